package workqueue

import (
	"math"
	"time"
)

// Add asks for work on a key: now, or, if it is being worked on, right after. It changes nothing if the key is ready
// already, or the queue is closed.
func (q *Queue[K]) Add(key K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.add(q.entry(key))
	}
}

// AddAfter asks for work on a key after a delay, whatever else is asked for until then. A key has one delay at a time, of
// which the one that ends first counts.
func (q *Queue[K]) AddAfter(key K, delay time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
	case delay <= 0:
		q.add(q.entry(key))
	default:
		q.delay(q.entry(key), delay)
	}
}

// Retry says that the work on a key failed. It comes again after the key's delay, which doubles with every failure in a row,
// and no earlier than the limiter of all keys allows. Call it in the body of Keys, where the delay begins at the end of
// the body, or elsewhere, where it begins at once.
func (q *Queue[K]) Retry(key K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	e := q.entry(key)
	if e.working {
		e.failed = true
		return
	}
	q.retry(e)
}

// Failures returns how often in a row the work on a key has failed, up to its last end: for those who give up at a number.
func (q *Queue[K]) Failures(key K) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e := q.entries[key]; e != nil {
		return e.failures
	}
	return 0
}

// entry returns a key's entry, and makes it if need be.
func (q *Queue[K]) entry(key K) *entry[K] {
	e := q.entries[key]
	if e == nil {
		e = &entry[K]{key: key}
		q.entries[key] = e
	}
	return e
}

// forget drops an entry of which nothing is left to do.
func (q *Queue[K]) forget(e *entry[K]) {
	if !e.ready && !e.working && !e.delayed {
		delete(q.entries, e.key)
	}
}

// add makes a key ready now, after those whose delay has ended by now.
func (q *Queue[K]) add(e *entry[K]) {
	if e.ready {
		return
	}
	now := q.now()
	q.promote(now)
	q.push(e, now)
}

func (q *Queue[K]) push(e *entry[K], since moment) {
	switch {
	case e.working:
		e.dirty = true
	case !e.ready:
		e.ready, e.since = true, since
		q.ready.push(e)
		q.moved.Signal()
	}
}

// promote makes those ready whose delay has ended.
func (q *Queue[K]) promote(now moment) {
	for len(q.delayed.heap) > 0 && q.delayed.heap[0].due <= now {
		e := q.delayed.pop()
		q.push(e, e.due)
	}
}

// retry counts a failure and delays the key.
func (q *Queue[K]) retry(e *entry[K]) {
	if q.closed {
		return
	}
	delay := q.opts.BaseDelay
	for range e.failures {
		if delay > q.opts.MaxDelay/2 {
			delay = q.opts.MaxDelay
			break
		}
		delay *= 2
	}
	e.failures++
	q.delay(e, max(min(delay, q.opts.MaxDelay), q.opts.Limiter.Reserve().Delay()))
}

// delay makes a key ready after a delay, unless it will be so earlier.
func (q *Queue[K]) delay(e *entry[K], delay time.Duration) {
	due := q.now()
	due += min(delay, math.MaxInt64-due) // a limiter that never allows anything says so by the longest duration
	if q.delayed.set(e, due) && q.delayed.heap[0] == e && (q.alarm == 0 || due < q.alarm) {
		q.arm(due)
	}
}

// arm sets the timer, the only one.
func (q *Queue[K]) arm(due moment) {
	q.alarm = due
	if q.timer == nil {
		q.timer = time.AfterFunc(due-q.now(), q.ring)
	} else {
		q.timer.Reset(due - q.now())
	}
}

// ring is what the timer does.
func (q *Queue[K]) ring() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.promote(q.now())
	q.alarm = 0
	if len(q.delayed.heap) > 0 {
		q.arm(q.delayed.heap[0].due)
	}
}
