package sim

import "time"

// fault is a kind of failure. Each seed enables a random set of faults.
type fault int

const (
	reset       fault = iota // the connection breaks
	halfOpen                 // no more bytes arrive, and no error is reported
	stall                    // nothing arrives for a while
	throttle                 // only a few bytes arrive per read
	garbage                  // a byte that is invalid in JSON
	cutShort                 // a clean end in the middle of the response
	instantEnd               // a clean end before any bytes
	noAnswer                 // a request without a response
	noRoute                  // a refused connection
	html                     // 200 with an HTML page
	denied                   // 401, 403 or 404
	gone                     // an unjustified HTTP 410 or ERROR event 410
	errorEvent               // an ERROR event with another code
	storm                    // for a while, all requests return 429 or 5xx
	curt                     // for a while, watches close cleanly after a bookmark
	eager                    // for a while, watches send a change and close
	gateway                  // for a while, watches return 502, 503 or 504
	mute                     // a watch that never sends a byte
	foreignList              // a body that is not a list of this collection
	suspension               // the client's machine is suspended while the wall clock continues
	setBack                  // the wall clock is set back
	slowCaller               // the caller delays the iteration
	lag                      // watch caches lag behind
	compaction               // the storage and the watch caches lose old revisions
	restart                  // an API server restarts
	restore                  // a restored backup that resets the revision counter
	bumpRestore              // a restored backup with a bumped revision counter
	faults
)

var faultNames = [faults]string{
	"reset", "half-open", "stall", "throttle", "garbage", "cut short", "instant end", "no answer", "no route", "html", "denied",
	"gone", "error event", "storm", "curt",
	"eager", "gateway", "mute", "foreign list", "suspension", "set back", "slow caller", "lag", "compaction", "restart", "restore", "bump restore",
}

func (f fault) String() string { return faultNames[f] }

// weather holds the enabled faults and their frequency.
type weather struct {
	*dice
	kinds   [faults]bool
	trouble int           // approximate average number of requests per fault
	pause   time.Duration // maximum time between two changes of the world
	storm   time.Time     // until this time, all requests are rejected
	curt    time.Time     // until this time, watches end after a bookmark
	eager   time.Time     // until this time, watches end after a change
	gateway time.Time     // until this time, a gateway rejects watches
	code    int           // status code of the responses in a storm
	after   string        // Retry-After of the responses in a storm
	calm    bool          // the faults have stopped
}

func newWeather(d *dice) *weather {
	w := &weather{dice: d, trouble: 1 + d.IntN(8), pause: time.Duration(1+d.IntN(40)) * time.Second}
	for f := range w.kinds {
		w.kinds[f] = d.oneIn(2)
	}
	return w
}

// strikes reports whether a fault happens now. If the seed enables the fault, the probability is 1/n.
func (w *weather) strikes(f fault, n int) bool { return !w.calm && w.kinds[f] && w.oneIn(n) }

// among picks a random fault from a range and reports whether the seed enables it.
func (w *weather) among(from, to fault) (fault, bool) {
	f := from + fault(w.IntN(int(to-from)))
	return f, !w.calm && w.kinds[f]
}

// gather starts a storm: all requests are rejected for a while.
func (w *weather) gather(now time.Time) {
	w.storm = now.Add(w.upTo(3 * time.Minute))
	w.code = []int{429, 500, 502, 503, 504}[w.IntN(5)]
	w.after = []string{"", "", "1", "7", "120", "86400", "details"}[w.IntN(7)]
}

// reject returns the error response of a storm or a gateway.
func (w *weather) reject(code int, after string) *rejection {
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
