package lw

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

const (
	// The backoff doubles from firstDelay to maxDelay, as in client-go's Reflector.
	firstDelay = 800 * time.Millisecond
	maxDelay   = 30 * time.Second

	maxRetryAfter    = 5 * time.Minute // maximum Retry-After that is honored; docs/guarantees.md includes it in the recovery time
	maxHonored       = 10              // after Retry-After has set this many delays since the last reset, the backoff also applies
	retryAfterSpread = 0.1             // maximum random delay that is added to Retry-After, as a fraction of Retry-After

	// maxSpread is the maximum delay before a healthy watch resumes. It is less than firstDelay, so that wasm/mirror.js
	// can tell such a delay from a backoff.
	maxSpread = 750 * time.Millisecond

	// The request budget limits all requests, because many need no backoff, for example after a watch that delivers one
	// event and ends.
	requestEvery = time.Second // minimum average time between requests, after a burst
	requestBurst = 10          // maximum number of requests in a burst

	// Large lists have their own limit, because they are the most expensive requests for the server.
	listWindow = time.Minute // at most maxLists large lists start within this time
	maxLists   = 4

	defaultPageSize = 500
)

// These constants are the minimum timeouts of watch requests. Each request adds a random time of up to 100 %, so that
// clients do not reconnect at the same time.
const (
	shortTimeout = time.Minute     // for a watch without bookmarks, whose end is the only sign that the connection is alive
	longTimeout  = 5 * time.Minute // for a watch with bookmarks
)

// These constants are idle timeouts. The watchdog checks them at least every 5 seconds, so it detects a half-open
// connection within 150 seconds, as docs/guarantees.md promises.
const (
	idleRequest   = 90 * time.Second  // for a list, or a watch without a response yet (servers queue requests for up to a minute)
	idleStream    = 10 * time.Second  // for a streaming list; short, because a server without streaming lists may send nothing
	idleBookmarks = 140 * time.Second // for a watch with bookmarks, which arrive once a minute
	idleOwed      = 5 * time.Second   // for a watch that must soon deliver a change that a check has shown
	idleGrace     = 5 * time.Second   // for a watch without bookmarks, added to the timeout of the watch
)

// policy computes delays and timeouts. The delay before a request is the longest of the backoff, the request budget and
// the limit on lists.
type policy struct {
	random   func() float64 // returns a number in [0, 1)
	pageSize int            // objects per page, or zero for no pagination
	large    int            // number of delivered objects that count as one list towards the limit on lists; see charge

	lastBackoff time.Duration    // without jitter; zero after a reset
	honored     int              // number of delays that followed Retry-After since the last reset; see maxHonored
	budgetFull  moment           // when the budget, a token bucket, is full again
	small       int              // number of objects in lists that do not count yet
	largeLists  [maxLists]moment // start times of the last lists that count, oldest first; zero if there were fewer lists
}

func newPolicy(opts *Options) policy {
	p := policy{random: opts.Random, pageSize: defaultPageSize, large: defaultPageSize}
	if p.random == nil {
		p.random = rand.Float64
	}
	if opts.PageSize != 0 {
		p.pageSize = max(opts.PageSize, 0)
	}
	if p.pageSize > 0 {
		p.large = min(p.pageSize, defaultPageSize) // a larger page size must not weaken the limit on lists
	}
	return p
}

// backOff returns the next delay of an exponential backoff. Its jitter makes clients that fail together retry at
// different times. retryAfter is the server's Retry-After, or zero. A Retry-After replaces the backoff, because a doubled
// delay would make the client wait while the server has capacity. After maxHonored such delays, the longer of both
// applies. A Retry-After also gets jitter, because all clients receive the same value.
func (p *policy) backOff(retryAfter time.Duration) time.Duration {
	if retryAfter > 0 && p.honored < maxHonored {
		p.honored++
		return retryAfter + time.Duration(p.random()*float64(retryAfter)*retryAfterSpread)
	}
	p.lastBackoff = min(max(2*p.lastBackoff, firstDelay), maxDelay)
	return max(p.lastBackoff, retryAfter) + time.Duration(p.random()*float64(p.lastBackoff))
}

// resetBackoff makes the next backoff start with firstDelay again, and lets the next Retry-After replace it.
func (p *policy) resetBackoff() { p.lastBackoff, p.honored = 0, 0 }

// retryAfter returns the Retry-After of err, at most maxRetryAfter.
func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*StatusError](err); ok {
		return min(e.RetryAfter, maxRetryAfter)
	}
	return 0
}

// spread returns the delay before a healthy watch resumes: up to 0.5 % of the time that it was open, at most
// maxSpread. The delay spreads out the requests of clients that lose their watches at the same time. A watch that reached
// its own timeout needs no delay, because that timeout is already random.
func (p *policy) spread(open, timeout time.Duration) time.Duration {
	const tolerance = 2 * time.Second // the request rounds the timeout up to a whole second
	limit := min(open/200, maxSpread)
	if late := open - timeout; -tolerance <= late && late <= tolerance {
		limit = 0
	}
	return time.Duration(p.random() * float64(limit))
}

// spend charges one request to the budget. Two requests may overdraw the budget, because they are sent without a delay:
// a watch after a list, and a request after Wake has ended a delay.
func (p *policy) spend(now moment) {
	p.budgetFull = min(max(p.budgetFull, now)+requestEvery, now+(requestBurst+2)*requestEvery)
}

// budgetDelay returns the delay until the budget covers another request. Until budgetFull, each requestEvery stands for
// one earlier request, and a request may start if at most requestBurst-1 of them are left.
func (p *policy) budgetDelay(now moment) time.Duration {
	return max(0, p.budgetFull-now-(requestBurst-1)*requestEvery)
}

// charge counts objects of a list towards the limit on lists. `begun` is the time at which the request started.
// `before` is the number of objects of this list that were charged earlier. A list of p.large objects or more counts as
// one. Smaller lists add up, and count as one when they have delivered p.large objects together. So a small collection
// recovers quickly even if its server restarts many times.
func (p *policy) charge(begun moment, before, objects int) {
	p.small += min(before+objects, p.large) - min(before, p.large) // so that one list charges at most p.large objects
	if p.small < p.large {
		return
	}
	p.small -= p.large
	copy(p.largeLists[:], p.largeLists[1:])
	p.largeLists[maxLists-1] = begun
}

// listDelay returns the delay until another list may start.
func (p *policy) listDelay(now moment) time.Duration {
	if p.largeLists[0] == 0 {
		return 0
	}
	return max(0, listWindow-(now-p.largeLists[0]))
}

// watchTimeout returns the timeout to request for a watch.
func (p *policy) watchTimeout(server *support) time.Duration {
	base := shortTimeout
	if server.bookmarks.Load() {
		base = longTimeout
	}
	return base + time.Duration(p.random()*float64(base))
}

// idle returns the idle timeout of the current request.
func (m *machine) idle() time.Duration {
	switch {
	case m.opened == 0: // also during a list or a check, because only WatchStarted sets opened
		return idleRequest
	case m.state == streaming:
		return idleStream
	case m.owed != "":
		return idleOwed
	case m.server.bookmarks.Load():
		return idleBookmarks
	}
	return min(m.timeout+idleGrace, idleBookmarks) // m.timeout stays long if another stream clears server.bookmarks
}

// support records which features of a server the streams of a [Source] have discovered. Several Sources on one server
// can share a record; see [Source.Share]. The streams use it concurrently.
type support struct {
	streams   atomic.Int32 // streamsWork, streamsStopped, or the number of streaming lists that failed in a row
	bookmarks atomic.Bool  // whether the server sends bookmarks
	pages     atomic.Bool  // whether the server split a list at resourceVersion "0" into pages, because it has no watch cache
}

const (
	streamsWork = -1 // a watch after a streaming list was healthy
	// After maxStreamFaults failures in a row, counted over all streams, they use ordinary lists. A single failure may only
	// mean that the server is shutting down.
	maxStreamFaults = 2
	// streamsStopped means that the server does not support streaming lists. Unlike a number of failures, it is final,
	// because a watch that another stream began earlier may still end as healthy.
	streamsStopped = 1 << 30
)

// streamsLists reports whether to request streaming lists.
func (s *support) streamsLists() bool { return s.streams.Load() < maxStreamFaults }

// streamsProven reports whether a streaming list has worked and none has failed since.
func (s *support) streamsProven() bool { return s.streams.Load() == streamsWork }

// streamFailed records a failed streaming list. A 4xx response disables streaming lists at once, because the server
// rejects their parameters. afterStreamingList does not call streamFailed for 401, 403, 404, 410 and 429, because these
// responses do not show whether the server supports streaming lists.
func (s *support) streamFailed(err error) {
	if code := statusCode(err); code >= 400 && code < 500 {
		s.stopStreams()
		return
	}
	for n := s.streams.Load(); !s.streams.CompareAndSwap(n, max(n, 0)+1); n = s.streams.Load() {
	}
}

// stopStreams makes all streams that use this record request ordinary lists.
func (s *support) stopStreams() { s.streams.Store(streamsStopped) }

// streamWorked records that a streaming list was followed by a healthy watch. It has no effect after stopStreams.
func (s *support) streamWorked() {
	for n := s.streams.Load(); n < streamsStopped && !s.streams.CompareAndSwap(n, streamsWork); n = s.streams.Load() {
	}
}

// fault classifies a failure. It determines the next request.
type fault uint8

const (
	connection fault = iota // the connection broke or was closed cleanly, or a gateway cannot reach the server
	overload                // the server asks the client to slow down
	expired                 // the resourceVersion or the continue token is too old
	badVersion              // the resourceVersion is too large or from another history, for example because of a rebuilt server
	protocol                // the response is not usable, for example malformed JSON or an unexpected status code
	permanent               // the server returned 401, 403 or 404
)

// faultOf classifies a failure. An unknown error counts as a connection fault, because transports have their own error
// types.
func faultOf(err error) fault {
	switch {
	case errors.Is(err, ErrExpired):
		return expired
	case errors.Is(err, ErrResourceVersionTooLarge), errors.Is(err, errVersionRegressed), errors.Is(err, errReplaced):
		return badVersion
	case IsPermanent(err):
		return permanent
	}
	if e, ok := errors.AsType[*StatusError](err); ok {
		switch {
		case e.Code == 429, e.Code == 503 && e.RetryAfter > 0:
			return overload
		case e.Code >= 502 && e.Code <= 504, e.Code >= 500 && e.Message != "" && e.Message[0] == '<':
			// Gateways send HTML pages.
			return connection
		}
		return protocol
	}
	// Gateways and captive portals also send HTML pages with status 200.
	if e, ok := errors.AsType[*jsonscan.SyntaxError](err); ok && e.Found == jsonscan.HTML {
		return connection
	}
	if answered(err) {
		return protocol
	}
	return connection
}

// answered reports whether err means that the server or a gateway sent an unusable response. It returns false for a
// truncated body, because that is a connection failure.
func answered(err error) bool {
	return statusCode(err) != 0 || errors.Is(err, ErrInvalidResponse)
}

// statusCode returns the HTTP status code of a *StatusError, or zero for other errors.
func statusCode(err error) int {
	if e, ok := errors.AsType[*StatusError](err); ok {
		return e.Code
	}
	return 0
}
