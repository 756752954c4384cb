package sim

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/hostile"
)

// sim simulates the server, the network and the clocks in the goroutine that calls the engine.
type sim struct {
	*dice
	*server
	*weather
	check   *checker
	conn    *conn // latest request
	start   time.Time
	random  *dice         // random numbers for the engine
	next    time.Time     // time of the next write or fault
	calmAt  time.Time     // time at which the faults stop
	asked   int           // number of requests so far
	failure error         // first broken guarantee
	wake    chan struct{} // Options.Wake; may be nil
	offset  atomic.Int64  // offset of the wall clock in nanoseconds
	done    bool          // all checks have passed
	log     strings.Builder
}

func newSim(seed uint64) *sim {
	d := newDice(seed, 1)
	s := &sim{dice: d, server: newServer(d), weather: newWeather(d), start: time.Now()}
	s.check = &checker{sim: s, loose: s.habit != noHabit}
	if s.check.loose {
		s.kinds[restore], s.kinds[bumpRestore] = false, false
	}
	s.next = s.start.Add(s.upTo(s.weather.pause))
	s.calmAt = s.start.Add(time.Minute + s.upTo(100*s.weather.pause))
	s.trace("seed %d: %v", seed, s.server)
	return s
}

// trace adds a line with the simulated time in seconds to the trace.
func (s *sim) trace(format string, args ...any) {
	fmt.Fprintf(&s.log, "%12.6f ", time.Since(s.start).Seconds())
	fmt.Fprintf(&s.log, format, args...)
	s.log.WriteByte('\n')
}

// fail records the first broken guarantee and ignores later ones.
func (s *sim) fail(promise, format string, args ...any) {
	if s.failure == nil {
		s.failure = &Broken{Promise: promise, How: fmt.Sprintf(format, args...)}
		s.trace("✗ %v", s.failure)
	}
}

func (s *sim) over() bool { return s.done || s.failure != nil }

// pass lets simulated time pass until the given time, the next write or fault, or the end of ctx.
func (s *sim) pass(ctx context.Context, until time.Time) {
	s.catchUp()
	if d := time.Until(earliest(until, s.next)); d > 0 {
		timer := time.NewTimer(d)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	if s.wake != nil && s.oneIn(10) {
		s.rouse()
	}
	s.check.silence()
	s.catchUp()
}

// rouse sends to Options.Wake and waits until the engine has checked its connection.
func (s *sim) rouse() {
	select {
	case s.wake <- struct{}{}:
		s.trace("! roused")
		s.check.budget.woke(time.Now())
		synctest.Wait()
	default: // the engine receives from Options.Wake only during a request
	}
}

// catchUp performs all writes and faults that are due.
func (s *sim) catchUp() {
	for now := time.Now(); !s.next.After(now) && !s.over(); {
		s.next = s.next.Add(s.upTo(s.weather.pause))
		if s.calm {
			s.fairDay(now)
			continue
		}
		if s.badDay(now); s.next.After(s.calmAt) {
			s.clearUp()
		}
	}
}

// badDay performs random writes and at most one fault. catchUp calls it repeatedly until the faults stop.
func (s *sim) badDay(now time.Time) {
	for range s.IntN(4) {
		s.write()
	}
	for _, r := range s.replicas {
		if !s.strikes(lag, 1) || s.oneIn(4) {
			s.server.catchUp(r)
		}
	}
	switch r := s.replicas[s.IntN(len(s.replicas))]; {
	case s.strikes(compaction, 6):
		s.trace("! compaction at %d", max(1, s.compact()))
	case s.strikes(restart, 12):
		s.trace("! restart of replica %d", r.number)
		s.restart(r)
		s.cut(r)
	case s.strikes(restore, 30):
		s.restoreBackup(false)
	case s.strikes(bumpRestore, 30):
		s.restoreBackup(true)
	case s.strikes(curt, 12):
		s.curt = now.Add(s.upTo(3 * time.Minute))
		s.trace("! watches end after a bookmark")
	case s.badHabit(now):
	case s.strikes(storm, 12):
		s.gather(now)
		s.trace("! all requests are rejected with %d", s.code)
	default:
		s.harm()
	}
}

func (s *sim) restoreBackup(bump bool) {
	before, old := s.server.log.Revision(), s.now
	s.restore(bump, s.check.known)
	s.check.serverRestored(bump, claim{of: old, revision: s.now.fork + 1})
	s.trace("! restore: from %d to %d, now at %d", before, s.now.fork, s.server.log.Revision())
	s.cut(nil)
}

// cut ends the current connection if it goes to API server r, or if r is nil.
func (s *sim) cut(r *replica) {
	if s.conn != nil && (r == nil || r == s.conn.replica) {
		s.conn.cut()
	}
}

// harm chooses a random fault for the current connection.
func (s *sim) harm() {
	c := s.conn
	if c == nil || !c.open || !s.oneIn(s.trouble) {
		return
	}
	if s.strikes(errorEvent, 3) && c.stream != nil && !c.ended {
		code := []int{410, 429, 500}[s.IntN(3)]
		s.trace("! ERROR event %d", code)
		c.pending += hostile.Event("ERROR", hostile.Status(code, "", "for no reason", ""))
		c.ended, c.stream = true, nil
		return
	}
	if f, ok := s.among(reset, instantEnd); ok && c.at < 0 {
		c.fault, c.at = f, c.sent+s.IntN(400)
		s.trace("! %v after %d more bytes", f, c.at-c.sent)
	}
}

// write writes a random object. It does nothing if the engine already read the next revision before a restore.
func (s *sim) write() {
	if !s.check.known(s.server.log.Revision() + 1) {
		s.writeSomething()
	}
}

// clearUp prevents new faults. Faults in progress continue.
func (s *sim) clearUp() {
	s.trace("! the faults stop")
	s.calm = true
	s.server.becomesWell()
	s.weather.storm, s.weather.curt, s.weather.eager, s.weather.gateway = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	s.check.calm()
}

// fairDay writes random objects in the first minute after the faults stop. Afterwards it checks that the store
// converges.
func (s *sim) fairDay(now time.Time) {
	writing := now.Sub(s.calmAt) < time.Minute
	if writing && s.oneIn(2) {
		s.write()
	}
	for _, r := range s.replicas {
		s.server.catchUp(r)
	}
	if !writing {
		s.check.converged()
	}
}
