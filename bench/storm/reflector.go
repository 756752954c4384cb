package main

import (
	"errors"
	"io"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Constants of client-go 0.37.
const (
	backoffFirst   = 800 * time.Millisecond
	backoffLongest = 30 * time.Second
	backoffReset   = 2 * time.Minute
	restRetries    = 10              // maximum number of retries of a request by the REST client
	restErrorDelay = time.Second     // delay of the REST client after a connection error
	shortWatch     = 1 * time.Second // an empty watch that ends earlier counts as an error
)

// reflector models the retry policy of client-go 0.37, as implemented in tools/cache/reflector.go and
// rest/with_retry.go. It omits paging, rate limits, resync and decoding, because the simulated server does not need
// them. It starts with a list, because client-go cannot resume from a saved state.
type reflector struct {
	*client
	backoff     reflectorBackoff
	version     int  // latest resourceVersion; zero means none
	unavailable bool // whether the server has reported version as expired
}

func newReflector(c *client, random func() float64) *reflector {
	return &reflector{client: c, backoff: reflectorBackoff{random: random, next: backoffFirst, reset: c.now}}
}

// run models Reflector.Run, which waits for a backoff delay between two calls to ListAndWatch.
func (r *reflector) run() {
	for !r.over {
		r.listAndWatch()
		r.pause()
	}
}

func (r *reflector) pause() { r.sleep(r.backoff.delay(r.now)) }

// listAndWatch models ListAndWatch. It sends a streaming list, or an ordinary list if that fails, and then opens
// watches.
func (r *reflector) listAndWatch() {
	open := r.watchList()
	if open == nil && !r.list() {
		return
	}
	r.watch(open)
}

// watchList sends streaming lists until one succeeds and returns its watch. It returns nil if the reflector must send
// an ordinary list.
func (r *reflector) watchList() *stream {
	for !r.over {
		got := r.request(&request{watch: true, list: true, version: r.known()})
		switch {
		case retriable(got.err):
			r.pause()
		case got.expired || gone(got.err):
			r.unavailable = true
		case got.err != nil:
			return nil
		default:
			r.version, r.unavailable = got.version, false
			return got.stream
		}
	}
	return nil
}

// list sends an ordinary list and reports whether it succeeded. If the resourceVersion has expired, it retries at once
// without a resourceVersion.
func (r *reflector) list() bool {
	got := r.request(&request{list: true, version: r.known()})
	if gone(got.err) {
		r.unavailable = true
		got = r.request(&request{list: true, version: r.known()})
	}
	if got.err != nil {
		return false
	}
	r.version, r.unavailable = got.version, false
	return true
}

// known returns the resourceVersion of the next list request. Zero accepts any resourceVersion.
func (r *reflector) known() int {
	if r.unavailable {
		return 0
	}
	return r.version
}

// watch keeps a watch open until the reflector must list again. It starts with open, or with a new watch if open is
// nil.
func (r *reflector) watch(open *stream) {
	for !r.over {
		began, events := r.now, 0
		if open == nil {
			got := r.request(&request{watch: true, version: r.version})
			if retriable(got.err) {
				r.pause()
				continue
			}
			if got.err != nil || got.expired {
				return
			}
			open = got.stream
			if got.text != "" {
				r.version, events = got.version, 1
			}
		}
		r.alive, r.since = true, r.now
		_ = r.ended(open) // a clean close and a connection error have the same effect
		if r.over {
			return
		}
		r.alive, open = false, nil
		if events == 0 && r.now-began < shortWatch {
			return
		}
	}
}

// request models the REST client. It retries up to 10 times after a connection reset or a response with Retry-After,
// but not after a refused connection. A watch whose last attempt is reset counts as an empty watch.
func (r *reflector) request(req *request) (got answer) {
	for range restRetries {
		got = r.exchange(req)
		wait, again := restRetry(got.err)
		if !again {
			return got
		}
		r.sleep(wait)
	}
	if got = r.exchange(req); got.err == errReset && req.watch {
		return answer{stream: &stream{ended: true, err: io.EOF}}
	}
	return got
}

// restRetry reports whether the REST client retries after err, and returns the delay before the retry.
func restRetry(err error) (wait time.Duration, again bool) {
	if err == errReset {
		return restErrorDelay, true
	}
	status, _ := errors.AsType[*lw.StatusError](err)
	if status == nil || status.RetryAfter == 0 || status.Code != 429 && status.Code < 500 {
		return 0, false
	}
	return status.RetryAfter, true
}

// retriable reports whether the reflector repeats a request that failed with err after a backoff delay. It does so if
// the connection was refused or the status is 429.
func retriable(err error) bool {
	status, _ := errors.AsType[*lw.StatusError](err)
	return err == errRefused || status != nil && status.Code == 429
}

func gone(err error) bool {
	status, _ := errors.AsType[*lw.StatusError](err)
	return status != nil && status.Code == 410
}

// reflectorBackoff models wait.Backoff.DelayWithReset. The delay doubles from 0.8 s to 30 s, and random jitter adds up
// to 100 %. The delay returns to 0.8 s if its last reset was more than 2 minutes ago.
type reflectorBackoff struct {
	random func() float64
	next   time.Duration
	reset  time.Duration // time at which the delay was last reset
}

func (b *reflectorBackoff) delay(now time.Duration) time.Duration {
	if now-b.reset > backoffReset {
		b.next, b.reset = backoffFirst, now
	}
	base := b.next
	b.next = min(2*base, backoffLongest)
	return base + time.Duration(b.random()*float64(base))
}
