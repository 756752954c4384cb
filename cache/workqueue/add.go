package workqueue

import (
	"slices"
	"sort"
	"time"
)

// Add queues a key. If a worker is processing the key, the key becomes ready again when the worker finishes. Add does
// nothing if the key is already ready or the queue is closed.
func (q *Queue[K]) Add(key K) { q.AddAfter(key, 0) }

// AddAfter queues a key after a delay. Add does not cancel the delay. It can make the key ready earlier, and the key
// becomes ready again after the delay. A key has only one pending delay. If AddAfter is called several times, the
// earliest time counts.
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

// Retry reports that the work on a key failed, and queues the key again after a delay. The delay doubles with each
// consecutive failure. It is longer if the retries of all keys exceed the rate limit of the queue. If a worker is
// processing the key, the delay starts when the loop body ends. Otherwise it starts immediately. As with AddAfter, the
// earliest time counts if the key already has a pending delay.
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

// Failures returns how many times in a row a key has failed. Use it to give up after a number of attempts. If a loop
// body calls Retry, the failure counts only when the body ends.
func (q *Queue[K]) Failures(key K) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e := q.entries[key]; e != nil {
		return e.failures
	}
	return 0
}

// entry returns the entry for a key. It creates a missing entry.
func (q *Queue[K]) entry(key K) *entry[K] {
	e := q.entries[key]
	if e == nil {
		e = &entry[K]{key: key}
		q.entries[key] = e
	}
	return e
}

// dropIdle frees an entry that is neither ready, delayed nor active. This also forgets its failures. They are already
// zero, except after Close.
func (q *Queue[K]) dropIdle(e *entry[K]) {
	if !e.ready && !e.active && !e.delayed {
		delete(q.entries, e.key)
	}
}

// makeReady appends a key to the ready keys. Before that, it appends all delayed keys that are due. They were due
// earlier than this key, but the timer may be late.
func (q *Queue[K]) makeReady(e *entry[K]) {
	q.promote()
	q.push(e)
}

// push appends a key to the ready keys. If a worker is processing the key, push marks it as dirty instead, so that no two
// workers process the key at the same time.
func (q *Queue[K]) push(e *entry[K]) {
	switch {
	case e.active:
		e.dirty = true
	case !e.ready:
		e.ready = true
		q.ready = append(q.ready, e)
		q.changed.Signal()
	}
}

// promote makes all due keys ready.
func (q *Queue[K]) promote() {
	now := time.Now()
	for len(q.delayed) > 0 && !q.delayed[0].due.After(now) {
		q.push(q.popDelayed())
	}
}

func (q *Queue[K]) popDelayed() *entry[K] {
	e := q.delayed[0]
	q.delayed[0] = nil // lets the garbage collector free the entry
	q.delayed = q.delayed[1:]
	e.delayed = false
	return e
}

// retry counts a failure of a key and queues the key again after a delay. The delay is the key's backoff, or the time
// until the rate limit permits another retry if that is longer.
func (q *Queue[K]) retry(e *entry[K]) {
	if q.closed {
		return
	}
	delay := q.baseDelay << e.failures
	if delay>>e.failures != q.baseDelay { // the shift overflowed
		delay = q.maxDelay
	}
	e.failures++
	q.delay(e, max(min(delay, q.maxDelay), q.limiter.Reserve().Delay()))
}

// delay queues a key after a delay. It has no effect if the key already has an earlier due time. Keys with the same due
// time keep the order in which they were delayed.
func (q *Queue[K]) delay(e *entry[K], delay time.Duration) {
	due := time.Now().Add(delay)
	if e.delayed && !due.Before(e.due) {
		return
	}
	if e.delayed {
		at := slices.Index(q.delayed, e)
		q.delayed = slices.Delete(q.delayed, at, at+1)
	}
	e.due, e.delayed = due, true
	at := sort.Search(len(q.delayed), func(i int) bool { return q.delayed[i].due.After(due) })
	q.delayed = slices.Insert(q.delayed, at, e)
	if at == 0 {
		q.setTimer()
	}
}

// setTimer sets the timer for the first delayed key.
func (q *Queue[K]) setTimer() { q.timer.Reset(time.Until(q.delayed[0].due)) }

// onTimer makes all due keys ready, and sets the timer for the next delayed key.
func (q *Queue[K]) onTimer() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.promote()
	if len(q.delayed) > 0 {
		q.setTimer()
	}
}
