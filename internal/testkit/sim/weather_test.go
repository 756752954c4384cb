package sim

import (
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/hostile"
)

// fault is a type of failure. Each seed enables a random set of faults.
type fault int

const (
	reset       fault = iota // the connection breaks
	halfOpen                 // no more bytes arrive, and no error is reported
	stall                    // for a few minutes, no bytes arrive
	throttle                 // only a few bytes arrive per read
	garbage                  // the response contains an invalid byte
	cutShort                 // the server closes an incomplete response
	instantEnd               // the server closes the response before sending any bytes
	noAnswer                 // the request gets no response
	noRoute                  // the connection is refused
	html                     // the response is an HTML page with status 200
	denied                   // the response has status 401, 403 or 404
	gone                     // the server reports 410, although the resourceVersion has not expired
	errorEvent               // the server sends an ERROR event with code 410, 429 or 500
	storm                    // for a few minutes, all requests return 429 or 5xx
	curt                     // for a few minutes, watches close cleanly after a bookmark
	eager                    // for a few minutes, watches close after one change
	gateway                  // for a few minutes, watches return 502, 503 or 504
	mute                     // the watch never sends a byte
	foreignList              // the body is not a list of the requested collection
	suspension               // the client's machine is suspended while the wall clock continues
	setBack                  // the wall clock is set back
	slowCaller               // the caller is slow to request the next event
	lag                      // watch caches lag behind the storage
	compaction               // the storage and the watch caches lose old revisions
	restart                  // an API server restarts
	restore                  // a backup is restored and resets the revision counter
	bumpRestore              // a backup is restored with a higher revision counter
	faults
)

var faultNames = [faults]string{
	"reset", "half-open", "stall", "throttle", "garbage", "truncated response", "empty response", "no response", "refused connection", "html", "denied",
	"gone", "error event", "storm", "curt",
	"eager", "gateway", "mute", "foreign list", "suspension", "clock set back", "slow caller", "lag", "compaction", "restart", "restore", "restore with a higher revision",
}

func (f fault) String() string { return faultNames[f] }

// weather contains the enabled faults, their frequency, and the end times of faults that last for minutes.
type weather struct {
	*dice
	kinds   [faults]bool
	trouble int           // approximate number of requests per fault
	pause   time.Duration // maximum time between two writes or faults
	storm   time.Time     // until this time, all requests are rejected
	curt    time.Time     // until this time, watches end after a bookmark
	eager   time.Time     // until this time, watches end after a change
	gateway time.Time     // until this time, a gateway rejects watches
	code    int           // status code of all responses during the storm
	after   string        // Retry-After header of these responses; if "details", their Status sets retryAfterSeconds instead
	calm    bool          // the faults have stopped
}

func newWeather(d *dice) *weather {
	w := &weather{dice: d, trouble: 1 + d.IntN(8), pause: time.Duration(1+d.IntN(40)) * time.Second}
	for f := range w.kinds {
		w.kinds[f] = d.oneIn(2)
	}
	return w
}

// strikes reports whether fault f occurs now. An enabled fault occurs with probability 1/n.
func (w *weather) strikes(f fault, n int) bool { return !w.calm && w.kinds[f] && w.oneIn(n) }

// among returns a random fault f with low <= f < high, and whether it is enabled.
func (w *weather) among(low, high fault) (fault, bool) {
	f := low + fault(w.IntN(int(high-low)))
	return f, !w.calm && w.kinds[f]
}

// gather starts a storm of up to three minutes.
func (w *weather) gather(now time.Time) {
	w.storm = now.Add(w.upTo(3 * time.Minute))
	w.code = []int{429, 500, 502, 503, 504}[w.IntN(5)]
	w.after = []string{"", "", "1", "7", "120", "86400", "details"}[w.IntN(7)]
}

// reject returns the error response of an overloaded server or a gateway.
func (w *weather) reject(code int, after string) *rejection {
	r := &rejection{code: code, body: "Too many requests, please try again later.\n"}
	switch after {
	case "":
	case "details":
		r.body = hostile.Status(code, "TooManyRequests", "later", `,"details":{"retryAfterSeconds":9}`)
		r.wait = 9 * time.Second
	default:
		r.header, r.wait = after, time.Duration(number(after))*time.Second
	}
	return r
}
