package sim

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// pagesTrait is how a server, or a proxy in front of it, answers requests with a continue token. All requests without a
// limit are answered well, so that a client can always get the whole list.
type pagesTrait int

const (
	pagesWell      pagesTrait = iota
	pagesSame                 // the token is ignored: the first page comes again, with the same token
	pagesRising               // the same, with another token each time
	pagesAlternate            // the second page comes again and again, with two tokens in turn
	pagesEmpty                // pages without objects, with another token each time
	pagesDrift                // each page shows the collection at its own resourceVersion
	pagesNameless             // the pages after the first have no resourceVersion
	pageKinds
)

// habit is something that a server does with which the exact checks are impossible: see checker.loose.
type habit int

const (
	noHabit        habit = iota
	namelessEvents       // events without a resourceVersion, and then a clean end, until the weather clears up
	namelessLists        // lists without a resourceVersion, and events without one behind them, until then
	earlyMark            // the bookmark that ends a streaming list comes before the objects, for ever
	habits
)

var versions = regexp.MustCompile(`,?"resourceVersion":"[0-9]*",?`)

// nameless removes the resourceVersions from what a server sends.
func nameless(text string) string {
	return versions.ReplaceAllStringFunc(text, func(version string) string {
		if version[0] == ',' && strings.HasSuffix(version, ",") {
			return ","
		}
		return ""
	})
}

// circle answers a request with a token in the server's own way.
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

// token is a continue token: the turn makes tokens differ that mean the same.
func token(revision int64, start string, turn int) string {
	return strconv.FormatInt(revision, 10) + ":" + start + "#" + strconv.Itoa(turn)
}

// foreign are bodies that are no list of the collection, whatever a proxy or a wrong backend meant by them.
var foreign = [...]string{
	`{"items":[]}` + "\n",
	`{"kind":"ConfigMapList","apiVersion":"apps/v1","metadata":{"resourceVersion":"1"},"items":[]}` + "\n",
	`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}` + "\n",
	`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}` + "\n",
}

// mislead replaces a list's body by a foreign one. The last of them is a list, which a stream can only know for a wrong
// one when it has read another.
func (s *sim) mislead(c *conn) {
	n := len(foreign)
	if !s.check.kindKnown {
		n--
	}
	c.pending, c.ended, c.foreign = foreign[s.IntN(n)], true, true
}

// badHabit begins something that servers, gateways and machines do without being broken.
func (s *sim) badHabit(now time.Time) bool {
	switch {
	case s.strikes(eager, 12):
		s.weather.eager = now.Add(s.upTo(3 * time.Minute))
		s.trace("! watches bring news and end at once")
	case s.strikes(gateway, 12):
		s.weather.gateway = now.Add(s.upTo(3 * time.Minute))
		s.trace("! a gateway answers watches")
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

// suspend is a machine that sleeps: its monotonic clock stands still, and the connection is dead afterwards.
func (s *sim) suspend() {
	slept := time.Minute + s.upTo(30*time.Minute)
	s.trace("! the machine is suspended for %v", slept)
	s.jump(slept)
	if s.conn != nil && s.conn.open {
		s.conn.silent = true
	}
}

// jump moves the wall clock alone.
func (s *sim) jump(by time.Duration) {
	s.offset.Add(int64(by))
	s.check.jumped += by
	s.check.setBack = s.check.setBack || by < 0
	s.check.jumpedAt = time.Now()
}
