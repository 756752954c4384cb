package hostile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/revlog"
)

const (
	collection = "configmaps"
	namespace  = "shop"
)

// change is a write to the collection. Its value is the revision of the write that last set the object's content. A
// deletion does not set the content, so its value equals that of the previous write.
type change = revlog.Event[int]

var eventTypes = [...]string{revlog.Created: "ADDED", revlog.Updated: "MODIFIED", revlog.Deleted: "DELETED"}

// format determines the names and resourceVersions in a world. The zero value leads to names such as cm-0001 and to
// decimal resourceVersions.
type format struct {
	names    []string // formats of the objects' names; new objects use the formats in turn
	versions string   // format of resourceVersions
	shift    int      // difference between the number in a resourceVersion and the revision
}

// World contains a collection of ConfigMaps and its history. It is safe for concurrent use.
type World struct {
	format
	era string // part of every UID, so that the objects of a rebuilt server have other UIDs

	mu        sync.Mutex
	log       *revlog.Log[int]
	revisions map[string]int // by resourceVersion
	changed   chan struct{}  // closed by the next change
	random    *rand.Rand
	made      int // number of objects created so far; part of each new object's name
}

// firstRevision precedes all changes of a world. It is not zero, so that tests can also use lower resourceVersions,
// which the collection never had.
const firstRevision = 1000

// newWorld returns a collection of 24 objects at revision 1024. Some scenarios contain this revision in their texts.
func newWorld(seed uint64, format format) *World {
	w := &World{format: format, log: revlog.New[int](), revisions: map[string]int{}, changed: make(chan struct{}), random: rand.New(rand.NewPCG(seed, 7))}
	if w.names == nil {
		w.names = []string{"cm-%04d"}
	}
	w.log.Advance(firstRevision)
	for range 24 {
		w.create()
	}
	return w
}

// version returns the resourceVersion for a revision.
func (w *World) version(revision int) string {
	return fmt.Sprintf(cmp.Or(w.versions, "%d"), revision+w.shift)
}

// lock calls f while it holds the lock.
func (w *World) lock(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// put creates or updates an object at the next revision. The caller must hold the lock.
func (w *World) put(name string) {
	w.log.Put(collection, name, int(w.log.Revision())+1)
	w.wrote()
}

// delete deletes an object at the next revision. The caller must hold the lock.
func (w *World) delete(o revlog.Entry[int]) {
	w.log.Delete(collection, o.Key, o.Value)
	w.wrote()
}

// wrote records the resourceVersion of the latest write, and wakes the readers that wait for it.
func (w *World) wrote() {
	revision := int(w.log.Revision())
	w.revisions[w.version(revision)] = revision
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *World) create() {
	w.made++
	w.put(fmt.Sprintf(w.names[w.made%len(w.names)], w.made/len(w.names)))
}

// entries returns the objects at a revision, sorted by name. The caller must hold the lock.
func (w *World) entries(revision int64) []revlog.Entry[int] {
	entries, _ := w.log.At(collection, "", revision) // a future revision has no objects
	return entries
}

// Step creates, modifies or deletes a random object. The collection keeps about 12 to 40 objects.
func (w *World) Step() {
	w.mu.Lock()
	defer w.mu.Unlock()
	entries := w.entries(w.log.Revision())
	switch n := w.random.IntN(10); {
	case n < 2 && len(entries) < 40 || len(entries) < 12:
		w.create()
	case n < 4:
		w.delete(entries[w.random.IntN(len(entries))])
	default:
		w.put(entries[w.random.IntN(len(entries))].Key)
	}
}

// Pause returns how long to wait before the next Step: a random time of at most nine seconds.
func (w *World) Pause() (pause time.Duration) {
	w.lock(func() { pause = time.Duration(1+w.random.IntN(9000)) * time.Millisecond })
	return pause
}

// remove deletes the object whose name sorts first.
func (w *World) remove() {
	w.lock(func() { w.delete(w.entries(w.log.Revision())[0]) })
}

func (w *World) now() (revision int) {
	w.lock(func() { revision = int(w.log.Revision()) })
	return revision
}

// at returns the objects at a revision, sorted by name.
func (w *World) at(revision int) (entries []revlog.Entry[int]) {
	w.lock(func() { entries = w.entries(int64(revision)) })
	return entries
}

// latest returns the current objects, sorted by name.
func (w *World) latest() []revlog.Entry[int] { return w.at(w.now()) }

// revisionOf returns the revision for a resourceVersion. ok is false if the collection never had it.
func (w *World) revisionOf(resourceVersion string) (revision int, ok bool) {
	w.lock(func() { revision, ok = w.revisions[resourceVersion] })
	return revision, ok
}

// since returns all changes after a revision, the current revision, and a channel that is closed by the next change.
func (w *World) since(revision int) (changes []change, now int, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	cursor, err := w.log.Watch(collection, int64(revision))
	if err != nil {
		panic(err) // the history is never compacted
	}
	changes, _ = cursor.Next(math.MaxInt)
	return changes, int(w.log.Revision()), w.changed
}

// object returns an object's JSON without kind and apiVersion, like a list item.
func (w *World) object(name string, content, revision int) string {
	text, _ := json.Marshal(name)
	return Object(namespace, string(text[1:len(text)-1]), w.uid(name), w.version(revision), "", strconv.Itoa(content))
}

func (w *World) uid(name string) string { return uid(w.era, name) }

// uid returns the UID of an object. Each object has its own, because some clients find objects by their UID.
func uid(era, name string) string {
	return fmt.Sprintf("u%s-%08x", era, crc32.ChecksumIEEE([]byte(name)))
}

// items returns the JSON of objects, as list items.
func (w *World) items(entries []revlog.Entry[int]) (items []string) {
	for _, e := range entries {
		items = append(items, w.object(e.Key, e.Value, int(e.Revision)))
	}
	return items
}

func (w *World) event(c change) string {
	return frame(eventTypes[c.Type], w.items([]revlog.Entry[int]{c.Entry})[0])
}

// frame returns a watch event for a list item.
func frame(kind, item string) string { return Event(kind, Typed(item)) }

// failed returns an ERROR event.
func failed(code int, reason, message string) string {
	return Event("ERROR", Status(code, reason, message, ""))
}

// UIDs returns the UID of each ConfigMap, by name.
func (w *World) UIDs() map[string]string {
	return w.byName(func(e revlog.Entry[int]) string { return w.uid(e.Key) })
}

// Versions returns the resourceVersion of each ConfigMap, by name.
func (w *World) Versions() map[string]string {
	return w.byName(func(e revlog.Entry[int]) string { return w.version(int(e.Revision)) })
}

// Values returns the value of data.v of each ConfigMap, by name.
func (w *World) Values() map[string]string {
	return w.byName(func(e revlog.Entry[int]) string { return strconv.Itoa(e.Value) })
}

// byName returns a string for each ConfigMap, by name.
func (w *World) byName(get func(revlog.Entry[int]) string) map[string]string {
	values := map[string]string{}
	for _, e := range w.latest() {
		values[e.Key] = get(e)
	}
	return values
}
