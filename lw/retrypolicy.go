package lw

import (
	"errors"
	"time"
)

const (
	firstDelay  = 800 * time.Millisecond
	maxDelay    = 30 * time.Second
	mostAsked   = 5 * time.Minute // the longest Retry-After that is honored
	mostAsks    = 10              // how often in a row a Retry-After alone decides the delay
	askedSpread = 0.1             // the random part of a Retry-After

	requestEvery = time.Second // the sustained rate of requests
	requestBurst = 10          // requests that may be made at once

	listWindow = time.Minute // in which at most mostLists lists begin
	maxLists   = 4
)

// retryPolicy decides how long a stream waits before its next request: the longest of the backoff, the request budget and the
// limit of lists. The zero value is ready to use.
type retryPolicy struct {
	backoff backoff
	budget  budget
	lists   lists
}

// backoff is an exponential backoff with full jitter on top, so that clients that fail together come back apart.
type backoff struct {
	last  time.Duration
	asked int // how often in a row the server asked to wait
}

// next returns the next delay. asked is the server's Retry-After, which is obeyed mostAsks times in a row before the delay
// grows beyond it. All clients are told the same one, so a random part is added.
func (b *backoff) next(random float64, asked time.Duration) time.Duration {
	if asked > 0 && b.asked < mostAsks {
		b.asked++
		return asked + time.Duration(random*float64(asked)*askedSpread)
	}
	b.last = min(max(2*b.last, firstDelay), maxDelay)
	return max(b.last, asked) + time.Duration(random*float64(b.last))
}

// retryAfter returns how long the server asked to wait, at most mostAsked.
func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*StatusError](err); ok {
		return min(e.RetryAfter, mostAsked)
	}
	return 0
}

// budget is a token bucket, kept as the moment until which all requests so far are paid.
type budget struct{ paid moment }

// spend pays for a request. Two requests may overdraw the budget: a watch after a list, and a wait that Wake ended.
func (b *budget) spend(now moment) {
	b.paid = min(max(b.paid, now)+requestEvery, now+(requestBurst+2)*requestEvery)
}

// wait returns how long until a request can be paid.
func (b *budget) wait(now moment) time.Duration {
	return max(0, b.paid-now-(requestBurst-1)*requestEvery)
}

// lists are the times at which the latest lists began that brought objects or were complete.
type lists struct {
	times [maxLists]moment
	next  int // the oldest
}

func (l *lists) add(begun moment) {
	l.times[l.next] = begun
	l.next = (l.next + 1) % maxLists
}

// wait returns how long until another list may begin.
func (l *lists) wait(now moment) time.Duration {
	oldest := l.times[l.next]
	if oldest == 0 {
		return 0
	}
	return max(0, listWindow-(now-oldest))
}
