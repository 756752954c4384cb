package sim

import "time"

// fault is one thing that goes wrong. Each seed's bad weather has some of them, and others not.
type fault int

const (
	reset       fault = iota // the connection breaks
	halfOpen                 // nothing comes any more, and nobody says so
	stall                    // nothing comes for a while
	throttle                 // a few bytes at a time
	garbage                  // a byte that no JSON text has
	cutShort                 // a clean end in the middle
	instantEnd               // a clean end before anything
	noAnswer                 // a request that is never answered
	noRoute                  // a connection that cannot be made
	html                     // 200, and a page
	denied                   // 401, 403, 404
	gone                     // HTTP 410, or an ERROR event 410, for no reason
	errorEvent               // an ERROR event of another kind
	storm                    // 429 or 5xx for a while, to all requests
	curt                     // watches that end in good order after a bookmark, for a while
	eager                    // watches that bring something and end at once, for a while
	gateway                  // 502, 503, 504 for a while, to watches
	mute                     // a watch that brings nothing from its first byte
	foreignList              // a body that is no list of this collection
	suspension               // the machine sleeps, and the wall clock goes on
	setBack                  // the wall clock is set back
	slowCaller               // the caller takes its time
	lag                      // watch caches that are behind
	compaction               // of the storage, and the watch caches' windows with it
	restart                  // of an API server
	restore                  // from a backup; the counter goes back
	bumpRestore              // from a backup; the counter goes on
	faults
)

var faultNames = [faults]string{
	"reset", "half-open", "stall", "throttle", "garbage", "cut short", "instant end", "no answer", "no route", "html", "denied",
	"gone", "error event", "storm", "curt",
	"eager", "gateway", "mute", "foreign list", "suspension", "set back", "slow caller", "lag", "compaction", "restart", "restore", "bump restore",
}

func (f fault) String() string { return faultNames[f] }

// weather is what may go wrong, and how often.
type weather struct {
	*dice
	kinds   [faults]bool
	trouble int           // one in so many requests fares badly
	pause   time.Duration // up to so long between two things that happen in the world
	storm   time.Time     // until when all requests are refused
	curt    time.Time     // until when watches end after a bookmark
	eager   time.Time     // until when watches end after news
	gateway time.Time     // until when watches get no further than a gateway
	code    int           // with this
	after   string        // and this Retry-After
	calm    bool          // nothing goes wrong any more
}

func newWeather(d *dice) *weather {
	w := &weather{dice: d, trouble: 1 + d.IntN(8), pause: time.Duration(1+d.IntN(40)) * time.Second}
	for f := range w.kinds {
		w.kinds[f] = d.oneIn(2)
	}
	return w
}

// strikes decides whether a kind of fault happens now, one time in n.
func (w *weather) strikes(f fault, n int) bool { return !w.calm && w.kinds[f] && w.oneIn(n) }

// among picks one of a range of faults that this seed knows.
func (w *weather) among(from, to fault) (fault, bool) {
	f := from + fault(w.IntN(int(to-from)))
	return f, !w.calm && w.kinds[f]
}

// gather begins a storm.
func (w *weather) gather(now time.Time) {
	w.storm = now.Add(w.upTo(3 * time.Minute))
	w.code = []int{429, 500, 502, 503, 504}[w.IntN(5)]
	w.after = []string{"", "", "1", "7", "120", "86400", "details"}[w.IntN(7)]
}

// refuse is the answer of a storm, or of a gateway.
func (w *weather) refuse(code int, after string) *rejection {
	r := &rejection{code: code, body: "Too many requests, please try again later.\n"}
	switch after {
	case "":
	case "details":
		r.body = status(code, "TooManyRequests", "later", `,"details":{"retryAfterSeconds":9}`)
		r.wait = 9 * time.Second
	default:
		r.header, r.wait = after, time.Duration(number(after))*time.Second
	}
	return r
}
