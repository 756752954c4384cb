package lw

import (
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/invalid"
)

// causeOfEnd returns the error for a watch that was closed cleanly. Some servers and proxies signal an expired
// resourceVersion by closing each watch immediately. So after several short watches in a row, causeOfEnd returns
// ErrExpired.
func (m *machine) causeOfEnd(now moment) error {
	s, ok := m.state.(*watching)
	switch {
	case !ok:
		return invalid.ErrNoInitialEnd
	case s.healthy(now):
		m.short = 0
		return ErrWatchClosed
	}
	m.short++
	if m.short < maxShortWatches {
		return ErrWatchClosed
	}
	return ErrExpired
}

// causeOfFailure returns invalid.ErrReplaced if a watch does not deliver a change that the server has shown before. The
// server was then rebuilt, and its resourceVersions are unrelated to those of the stream.
func (m *machine) causeOfFailure(err error) error {
	if s, ok := m.state.(*watching); ok && s.owed != "" && err == ErrSilent && s.opened != 0 {
		return invalid.ErrReplaced
	}
	return err
}

// end handles err, the failure of the current request. It chooses the next state and the delay, and returns the
// interruption.
func (m *machine) end(err error, in *input) *Interruption {
	f := faultOf(err)
	resumes, spread := m.judge(f, err, in.now)
	switch s := m.state.(type) { // the list has failed, but it has cost the server as much as it delivered
	case *listing:
		if in.signal == failed {
			m.chargeList(&s.charged, in.objects)
		}
	case *streaming:
		s.receiving = in.receiving > 0
		m.chargeList(new(int), s.objects)
	}
	n := m.state.react(m, f, err, in.now)
	m.routine = err == ErrWatchClosed || resumes && !isList(n.state) && err != ErrSilent
	if m.stopOn != nil && m.stopOn(err) {
		m.state = stopped{}
		return &Interruption{Err: err, Final: true}
	}
	m.state = n.state
	b := &Interruption{Err: err, Relist: isList(n.state)}
	asked := retryAfter(err)
	switch {
	case resumes && !b.Relist:
		b.Delay = spread
	case !n.immediate || asked > 0:
		b.Delay = m.retryPolicy.backoff.next(m.random(), asked)
	}
	b.Delay = max(b.Delay, m.retryPolicy.budget.wait(in.now))
	if b.Relist {
		b.Delay = max(b.Delay, m.retryPolicy.lists.wait(in.now))
	}
	return b
}

// judge reports whether a healthy watch ended with a clean close or a lost connection. Such a watch resumes after the
// random delay `spread` instead of a backoff. judge also resets the counters of earlier failures.
func (m *machine) judge(f fault, err error, now moment) (resumes bool, spread time.Duration) {
	s, ok := m.state.(*watching)
	if !ok {
		return false, 0
	}
	if err != ErrWatchClosed {
		m.short = 0
	}
	healthy := s.healthy(now)
	if healthy && s.listVersion != "" {
		m.server.streamWorked()
	}
	resumes = healthy && f == connection && !answered(err)
	if resumes || s.openFor(now) >= provenAfter {
		m.retryPolicy.backoff, m.relisted = backoff{}, false
	}
	if resumes {
		m.suspect = 0
		spread = time.Duration(m.random() * float64(s.spread(now)))
	}
	return resumes, spread
}

// mayRelistAtOnce reports whether the history has been lost for the first time since the backoff was reset. A relist then
// needs no backoff.
func (m *machine) mayRelistAtOnce() bool {
	first := !m.relisted
	m.relisted = true
	return first
}

// isList reports whether s requests the whole collection.
func isList(s state) bool {
	switch s.(type) {
	case *listing, *streaming:
		return true
	}
	return false
}
