package sim

import (
	"math"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

const (
	firstStep   = 800 * time.Millisecond // minimum backoff delay after the first failure
	longestStep = 30 * time.Second       // upper limit of the minimum backoff delay
	healthyLife = time.Second            // a watch that lasts this long is healthy
	owedLimit   = 5 * time.Second        // a watch without the change that a check found may cause a relist after this time
	resetLife   = 2 * time.Minute        // a watch that lasts this long resets the backoff, whatever ends it
)

// delays counts the engine's delays in a simulation, to check that they have jitter. It needs all of them, because a
// single delay may have no jitter by chance.
type delays struct {
	backoffs, bare int // number of backoff delays, and how many of them had no jitter
	spreads, still int // number of delays after healthy watches, and how many of them were zero
}

// broke compares an interruption with the oracle's prediction. `allowed` is the maximum delay that the request budget
// may add.
func (o *oracle) broke(b *lw.Interruption, now time.Time, allowed time.Duration) {
	v := o.judge(now)
	life, longer := o.life(now)
	if o.conn.watch && longer-o.listed >= resetLife || v.spread != no {
		o.atLeast, o.askedToWait = 0, 0
	}
	if watches := o.conn.watch && (o.synced || !o.conn.streams); watches && life-o.listed >= resetLife || v.spread == yes {
		o.atMost, o.askedAtMost = 0, 0
	}
	switch {
	case v.relist == yes && !b.Relist:
		o.fail("relists", "the next request is a watch instead of a list; the previous request ended with: %v", o.conn.cause)
	case v.relist == no && b.Relist:
		o.fail("resumes", "the next request is a list instead of a watch; the previous request ended with: %v", o.conn.cause)
	}
	if b.Relist {
		if o.short, o.faults = 0, 0; o.shortAtMost >= 3 && o.conn.watch && o.conn.cause == cleanEnd {
			o.shortAtMost = 0
		}
	}
	wait := o.retryAfter()
	if b.Delay < wait {
		o.fail("honors Retry-After", "the delay is %v, but the server requested %v", b.Delay, wait)
	}
	switch {
	case v.spread == yes:
		o.spread(b, life, longer, allowed)
	case v.spread == no:
		o.backOff(b, v, wait, allowed)
	default:
		o.atMost++
	}
}

// spread checks the delay after a healthy watch. `life` and `longer` are the shortest and the longest time that the
// watch may have lasted.
func (o *oracle) spread(b *lw.Interruption, life, longer, allowed time.Duration) {
	most := min(time.Second, longer/200)
	if late := life - o.conn.timeout; late >= 0 && late < time.Second { // timeouts are already random, so watches do not end together
		most = 0
	}
	if b.Delay > most+allowed {
		o.fail("resumes quickly", "the delay is %v after a watch of %v; the maximum is %v", b.Delay, life, most+allowed)
	}
	if most >= time.Millisecond && allowed == 0 {
		if o.check.delays.spreads++; b.Delay == 0 {
			o.check.delays.still++
		}
	}
}

// backOff checks a delay after a failure. The first ten consecutive responses with Retry-After do not count as
// failures. After such a response, the delay is the requested delay plus up to 10 % jitter.
func (o *oracle) backOff(b *lw.Interruption, v verdict, wait, allowed time.Duration) {
	if b.Relist {
		allowed = max(allowed, o.check.budget.listWait(time.Now()))
	}
	if wait > 0 {
		o.askedToWait++
		o.askedAtMost++
	}
	if wait == 0 || o.askedAtMost > 10 {
		o.atMost++
	}
	if wait > 0 && o.askedToWait <= 10 {
		if most := max(wait+wait/10, max(wait, step(o.atMost))+step(o.atMost)) + allowed; b.Delay > most {
			o.fail("backs off", "the delay is %v, but the server requested %v", b.Delay, wait)
		}
		return
	}
	if !v.atOnce && wait == 0 {
		o.atLeast++
	}
	if least := step(o.atLeast); b.Delay < least && !v.atOnce {
		o.fail("backs off", "the delay is %v after %d failures; the minimum is %v", b.Delay, o.atLeast, least)
	}
	if most := step(o.atMost); b.Delay > max(most, wait)+most+allowed {
		o.fail("backs off", "the delay is %v after %d failures; the maximum is %v", b.Delay, o.atMost, max(most, wait)+most+allowed)
	}
	if allowed == 0 && wait == 0 && !v.atOnce {
		o.check.delays.backoffs++
		for n := range 7 { // the seventh step and all later ones are longestStep
			if b.Delay == step(n+1) {
				o.check.delays.bare++
			}
		}
	}
}

// retryAfter returns the minimum delay that the server requested with Retry-After, or 0 if there is none.
func (o *oracle) retryAfter() time.Duration {
	if o.conn.cause != rejected || o.conn.rejection.final() {
		return 0
	}
	return min(o.conn.rejection.wait, longestAsked)
}

// jitters checks at the end of a simulation that the delays had jitter.
func (c *checker) jitters() {
	d := c.delays
	if d.backoffs >= 5 && d.bare == d.backoffs {
		c.fail("uses jitter", "none of the %d delays has jitter", d.bare)
	}
	if d.spreads >= 5 && d.still == d.spreads {
		c.fail("uses jitter", "%d healthy watches ended, but the engine never delayed the next one", d.still)
	}
}

// step returns the shortest backoff delay after n consecutive failures.
func step(n int) time.Duration {
	return min(longestStep, time.Duration(float64(firstStep)*math.Pow(2, float64(min(n, 20)-1))))
}
