package lw

import (
	"errors"
	"time"
)

const (
	firstDelay       = 800 * time.Millisecond
	maxDelay         = 30 * time.Second
	maxRetryAfter    = 5 * time.Minute // maximum Retry-After that is honored
	maxHonored       = 10              // maximum number of consecutive delays that depend only on Retry-After
	retryAfterSpread = 0.1             // maximum random delay that is added to Retry-After, as a fraction of Retry-After

	requestEvery = time.Second // minimum average time between requests, after a burst
	requestBurst = 10          // maximum number of requests in a burst

	listWindow = time.Minute // at most maxLists large lists start within this time
	maxLists   = 4
)

// retryPolicy computes the delay before the next request. The delay is the longest of the backoff, the request budget
// and the limit on lists.
type retryPolicy struct {
	backoff backoff
	budget  budget
	lists   lists
}

// backoff is an exponential backoff with jitter, so that clients that fail together retry at different times.
type backoff struct {
	last  time.Duration
	asked int // number of consecutive delays that Retry-After determined
}

// next returns the next delay. retryAfter is the server's Retry-After or zero, and is honored up to maxHonored times in
// a row. A random delay is added because all clients receive the same Retry-After.
func (b *backoff) next(random float64, retryAfter time.Duration) time.Duration {
	if retryAfter > 0 && b.asked < maxHonored {
		b.asked++
		return retryAfter + time.Duration(random*float64(retryAfter)*retryAfterSpread)
	}
	b.last = min(max(2*b.last, firstDelay), maxDelay)
	return max(b.last, retryAfter) + time.Duration(random*float64(b.last))
}

// retryAfter returns the Retry-After of err, at most maxRetryAfter.
func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*StatusError](err); ok {
		return min(e.RetryAfter, maxRetryAfter)
	}
	return 0
}

// budget is a token bucket. It stores only the time at which the bucket is full again.
type budget struct{ fullAt moment }

// spend charges one request to the budget. Two requests may exceed the budget: a watch after a list, and a request
// after Wake skipped a delay.
func (b *budget) spend(now moment) {
	b.fullAt = min(max(b.fullAt, now)+requestEvery, now+(requestBurst+2)*requestEvery)
}

// wait returns the delay until the budget covers another request.
func (b *budget) wait(now moment) time.Duration {
	return max(0, b.fullAt-now-(requestBurst-1)*requestEvery)
}

// lists limits how often a stream lists. A list costs as much as it delivers, so that a small collection recovers
// quickly even if its server restarts many times. A list of `large` objects or more counts as one, and smaller lists
// count as one together when they have delivered that many objects.
type lists struct {
	large  int              // number of objects
	small  int              // number of objects in lists that do not count yet
	times  [maxLists]moment // start times of the last lists that count
	oldest int              // index of the oldest time
}

// add records a list or a part of a list with this number of objects. The caller omits objects of one list beyond
// `large`.
func (l *lists) add(begun moment, objects int) {
	if l.small += objects; l.small < l.large {
		return
	}
	l.small -= l.large
	l.times[l.oldest] = begun
	l.oldest = (l.oldest + 1) % maxLists
}

// wait returns the delay until another list may start.
func (l *lists) wait(now moment) time.Duration {
	begun := l.times[l.oldest]
	if begun == 0 {
		return 0
	}
	return max(0, listWindow-(now-begun))
}
