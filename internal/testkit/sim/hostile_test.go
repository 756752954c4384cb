package sim

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// pagesTrait selects how the server responds to continue tokens. A list without a limit is always correct, so
// clients can always get the whole list.
type pagesTrait int

const (
	pagesWell      pagesTrait = iota
	pagesSame                 // the first page again, with the same continue token
	pagesRising               // the first page again, each time with a new continue token
	pagesAlternate            // the second page again, with two alternating continue tokens
	pagesEmpty                // empty pages, each with a new continue token
	pagesDrift                // each page at the latest revision
	pagesNameless             // pages without a resourceVersion
	pageKinds
)

// habit is a lasting server fault after which exact checks are impossible. See checker.loose.
type habit int

const (
	noHabit           habit = iota
	unversionedEvents       // until the faults stop, watches send events without a resourceVersion and then close cleanly
	unversionedLists        // until the faults stop, lists and events have no resourceVersion
	earlyMark               // the initial-events-end bookmark always comes before the objects
	habits
)

var versions = regexp.MustCompile(`,?"resourceVersion":"[0-9]*",?`)

// unversioned removes the resourceVersions from JSON.
func unversioned(text string) string {
	return versions.ReplaceAllStringFunc(text, func(version string) string {
		if version[0] == ',' && strings.HasSuffix(version, ",") {
			return ","
		}
		return ""
	})
}

// circle returns the requested page with the fault that s.pages selects, and the page's revision.
func (s *server) circle(revision int64, start string, turn, limit int) (string, int64) {
	next := token(revision, start, turn+1)
	switch s.pages {
	case pagesSame:
		return s.page(revision, "", limit), revision
	case pagesRising:
		return s.render(revision, "", limit, next), revision
	case pagesAlternate:
		return s.render(revision, start, limit, token(revision, start, (turn+1)%2)), revision
	case pagesEmpty:
		s.keys = s.keys[:0]
		return listText(nil, revision, next, s.metadataLast), revision
	case pagesDrift:
		revision = s.log.Revision()
	case pagesNameless:
		text := s.page(revision, start, limit)
		return strings.Replace(text, `"metadata":{"resourceVersion":"`+strconv.FormatInt(revision, 10)+`",`, `"metadata":{`, 1), revision
	}
	return s.page(revision, start, limit), revision
}

// token returns a continue token. `turn` makes successive tokens for the same page differ.
func token(revision int64, start string, turn int) string {
	return strconv.FormatInt(revision, 10) + ":" + start + "#" + strconv.Itoa(turn)
}

// foreign contains response bodies that a faulty proxy might send instead of a list.
var foreign = [...]string{
	`{"items":[]}` + "\n",
	`{"kind":"ConfigMapList","apiVersion":"apps/v1","metadata":{"resourceVersion":"1"},"items":[]}` + "\n",
	`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}` + "\n",
	`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}` + "\n",
}

// mislead replaces a list's body with an element of foreign. The last element is a valid list of another resource.
// mislead uses that element only if the engine already knows the expected kind from an earlier list.
func (s *sim) mislead(c *conn) {
	n := len(foreign)
	if !s.check.kindKnown {
		n--
	}
	c.pending, c.ended, c.foreign = foreign[s.IntN(n)], true, true
}

// badHabit may start a fault in the server, a gateway or the client's machine. It reports whether it did.
func (s *sim) badHabit(now time.Time) bool {
	switch {
	case s.strikes(eager, 12):
		s.weather.eager = now.Add(s.upTo(3 * time.Minute))
		s.trace("! watches send changes and end immediately")
	case s.strikes(gateway, 12):
		s.weather.gateway = now.Add(s.upTo(3 * time.Minute))
		s.trace("! a gateway rejects watches")
	case s.strikes(suspension, 12):
		s.suspend()
	case s.strikes(setBack, 20):
		back := s.upTo(2 * time.Hour)
		s.trace("! the wall clock is set back by %v", back)
		s.jump(-back)
	default:
		return false
	}
	return true
}

// suspend simulates that the client's machine is suspended. The monotonic clock stops, and the connection is
// half-open afterwards.
func (s *sim) suspend() {
	slept := time.Minute + s.upTo(30*time.Minute)
	s.trace("! the machine is suspended for %v", slept)
	s.jump(slept)
	if s.conn != nil && s.conn.open {
		s.conn.silent = true
	}
}

// jump moves the wall clock but not the monotonic clock.
func (s *sim) jump(by time.Duration) {
	s.offset.Add(int64(by))
	s.check.jumped += by
	s.check.setBack = s.check.setBack || by < 0
	s.check.jumpedAt = time.Now()
}
