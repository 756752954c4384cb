package sim

import (
	"fmt"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/internal/revlog"
)

// traits are lasting properties of the simulated server and its proxies. They remain after the faults stop.
type traits struct {
	streaming    streamingTrait
	bookmarks    bookmarkTrait
	expiredAs    expiredTrait
	zeroPages    bool // lists at resourceVersion "0" are paginated, like on servers without a watch cache
	metadataLast bool // lists end with their metadata, like those of custom resources
	pages        pagesTrait
	habit        habit
	marks        bool // all bookmarks have the initial-events-end annotation
}

type streamingTrait int

const (
	streamsWell     streamingTrait = iota
	streamsRejected                // streaming lists are rejected with 422
	streamsUnmarked                // streaming lists have no initial-events-end bookmark
	streamsCutShort                // streaming lists are closed cleanly before the initial-events-end bookmark
	streamsKinds
)

type bookmarkTrait int

const (
	bookmarksByTheMinute bookmarkTrait = iota
	bookmarksNever
	bookmarksInWalls // bookmarks often come in groups of 30
	bookmarkKinds
)

type expiredTrait int

const (
	expiredByEvent expiredTrait = iota // ERROR event in a response with status 200
	expiredByHTTP                      // error response with status 410, as sent by aggregated APIs
	expiredByEnd                       // empty response with status 200, as observed with Events and some proxies
	expiredKinds
)

// replica is an API server with a watch cache, which may lag behind the storage.
type replica struct {
	number int
	cached int64 // latest revision in the cache
	oldest int64 // earliest revision at which the cache can start a watch
}

// server simulates the storage and its API servers.
type server struct {
	*dice
	traits
	log      *revlog.Log[value]
	now      *incarnation
	peak     int64 // highest revision in any history that a restore has replaced
	bumped   int64 // revision after the latest restore that increased the counter; later restores cannot go below it
	replicas [2]*replica
	keys     []string // object keys on the latest page that the server returned
}

// becomesWell ends the lasting faults because of which clients could never reach the server's state.
func (s *server) becomesWell() {
	if s.pages == pagesNameless {
		s.pages = pagesWell
	}
	if s.habit != earlyMark {
		s.habit = noHabit
	}
}

func newServer(d *dice) *server {
	s := &server{dice: d, log: revlog.New[value](), now: &incarnation{fork: 1}}
	if d.oneIn(2) {
		s.streaming = streamingTrait(d.IntN(int(streamsKinds)))
	}
	if d.oneIn(2) {
		s.bookmarks = bookmarkTrait(d.IntN(int(bookmarkKinds)))
	}
	if d.oneIn(2) {
		s.expiredAs = expiredTrait(d.IntN(int(expiredKinds)))
	}
	s.zeroPages, s.metadataLast, s.marks = d.oneIn(2), d.oneIn(2), d.oneIn(4)
	if d.oneIn(3) {
		s.pages = pagesTrait(d.IntN(int(pageKinds)))
	}
	if d.oneIn(8) {
		s.habit = habit(d.IntN(int(habits)))
		s.streaming, s.bookmarks, s.pages = streamsRejected, bookmarksNever, pagesWell
		if s.habit == earlyMark {
			s.streaming = streamsWell
		}
	}
	for range d.IntN(15) {
		s.writeSomething()
	}
	for i := range s.replicas {
		s.replicas[i] = &replica{number: i}
		s.restart(s.replicas[i])
	}
	return s
}

func (s *server) String() string {
	return fmt.Sprintf("habit %d, streaming %d, bookmarks %d, expired %d, pages %d, marks %v, zeroPages %v, metadataLast %v, revision %d",
		s.habit, s.streaming, s.bookmarks, s.expiredAs, s.pages, s.marks, s.zeroPages, s.metadataLast, s.log.Revision())
}

// writeSomething creates, updates or deletes a random object. About one write in three affects another collection.
func (s *server) writeSomething() {
	revision := strconv.FormatInt(s.log.Revision()+1, 10)
	w := write{collection: watched, key: string(rune('a'+s.IntN(3))) + "/" + string(rune('p'+s.IntN(4)))}
	if s.oneIn(3) {
		w.collection, w.key = others, "x/y"
	}
	if key := s.lostUpdate(); key != "" && s.oneIn(2) {
		w.collection, w.key = watched, key
	}
	held, ok := s.log.Get(w.collection, w.key)
	data := [...]string{"", `}{\"`, `\\`, "\u00e9\u2028", "\\u0041", "0123456789012345678901234567890123456789"}
	w.value = value{uid: held.Value.uid, data: strconv.Itoa(s.now.number) + data[s.IntN(len(data))] + revision}
	switch {
	case !ok:
		w.kind, w.value.uid = revlog.Created, "u"+strconv.Itoa(s.now.number)+"-"+revision
	case w.collection == watched && s.oneIn(3):
		w.kind = revlog.Deleted
	default:
		w.kind = revlog.Updated
	}
	s.now.add(w)
	s.apply(w)
}

// lostUpdate returns the key of the object whose update a restore has undone, if that update had the revision that the
// server will assign next. It returns "" if there was no such update, or if the object's UID has changed. If the caller
// now updates the object, the new state differs from the lost state only in its content.
func (s *server) lostUpdate() string {
	lost, revision := s.now.parent, s.log.Revision()+1
	if lost == nil || revision > lost.last() {
		return ""
	}
	w := lost.write(revision)
	held, ok := s.log.Get(watched, w.key)
	if w.collection != watched || w.kind != revlog.Updated || !ok || held.Value.uid != w.value.uid {
		return ""
	}
	return w.key
}

func (s *server) apply(w write) {
	if _, ok := s.log.Get(w.collection, w.key); ok == (w.kind == revlog.Created) {
		panic("the log differs from the record in truth_test.go")
	}
	if w.kind == revlog.Deleted {
		s.log.Delete(w.collection, w.key, w.value)
	} else {
		s.log.Put(w.collection, w.key, w.value)
	}
}

// catchUp updates the watch cache of an API server to the current revision.
func (s *server) catchUp(r *replica) { r.cached = s.log.Revision() }

// compact removes history that all watch caches have seen. It returns the compacted revision. The caches can no longer
// start watches before that revision.
func (s *server) compact() int64 {
	revision := s.log.Revision() - s.Int64N(30)
	for _, r := range s.replicas {
		revision = min(revision, r.cached)
	}
	s.log.Compact(revision)
	for _, r := range s.replicas {
		r.oldest = max(r.oldest, revision)
	}
	return revision
}

// restart restarts an API server. Its cache then contains only the current state.
func (s *server) restart(r *replica) { r.cached, r.oldest = s.log.Revision(), s.log.Revision() }

// restore restores a backup from an earlier revision. If bump is set, the revision counter continues above all earlier
// revisions, like after etcdutl --bump-revision --mark-compacted. Otherwise, the counter is reset to a revision for
// which `known` returns false.
func (s *server) restore(bump bool, known func(int64) bool) {
	old := s.now
	s.peak = max(s.peak, s.log.Revision())
	fork := s.log.Revision() - 1 - s.Int64N(40)
	if fork = max(1, fork); !bump {
		fork = max(fork, s.bumped)
	}
	s.log = revlog.New[value]()
	for revision := int64(2); revision <= fork; revision++ {
		s.apply(old.write(revision))
	}
	s.now = &incarnation{number: old.number + 1, parent: old, fork: fork}
	for bump && s.log.Revision() <= s.peak || known(s.log.Revision()) {
		s.passRevision()
	}
	if bump {
		s.bumped = s.log.Revision()
	}
	s.log.Compact(s.log.Revision())
	for _, r := range s.replicas {
		s.restart(r)
	}
}

// passRevision increases the revision by writing to another collection.
func (s *server) passRevision() {
	w := write{collection: others, key: "x/y", kind: revlog.Updated}
	if _, ok := s.log.Get(others, w.key); !ok {
		w.kind = revlog.Created
	}
	s.now.add(w)
	s.apply(w)
}
