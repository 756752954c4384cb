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
		q.makeReady(q.entry(key))
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
		q.makeReady(q.entry(key))
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
	if e.active {
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

// dropIdle removes an entry that is neither ready, delayed nor active.
func (q *Queue[K]) dropIdle(e *entry[K]) {
	if !e.ready && !e.active && !e.delayed {
		delete(q.entries, e.key)
	}
}

// makeReady makes a key ready, after the keys whose delay has ended.
func (q *Queue[K]) makeReady(e *entry[K]) {
	if e.ready {
		return
	}
	now := q.now()
	q.promote(now)
	q.push(e, now)
}

func (q *Queue[K]) push(e *entry[K], since offset) {
	switch {
	case e.active:
		e.dirty = true
	case !e.ready:
		e.ready, e.since = true, since
		q.ready.push(e)
		q.changed.Signal()
	}
}

// promote makes the keys ready whose delay has ended.
func (q *Queue[K]) promote(now offset) {
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

// delay makes a key ready after a delay, unless it becomes ready earlier.
func (q *Queue[K]) delay(e *entry[K], delay time.Duration) {
	due := q.now()
	due += min(delay, math.MaxInt64-due) // a limiter that never allows anything says so by the longest duration
	if q.delayed.set(e, due) && q.delayed.heap[0] == e && (q.timerDue == 0 || due < q.timerDue) {
		q.setTimer(due)
	}
}

// setTimer sets the only timer.
func (q *Queue[K]) setTimer(due offset) {
	q.timerDue = due
	if q.timer == nil {
		q.timer = time.AfterFunc(due-q.now(), q.onTimer)
	} else {
		q.timer.Reset(due - q.now())
	}
}

// onTimer runs when the timer fires.
func (q *Queue[K]) onTimer() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.promote(q.now())
	q.timerDue = 0
	if len(q.delayed.heap) > 0 {
		q.setTimer(q.delayed.heap[0].due)
	}
}
