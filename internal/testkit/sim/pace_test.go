package sim

import (
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

const most = 20000 // maximum number of requests in a simulation

// asked checks that the guarantees allow a new request.
func (c *checker) asked(q query) {
	now := time.Now()
	c.sim.asked++
	if c.live {
		c.fail("reports staleness", "the engine sent a request while the stream was live")
	}
	if c.broken != nil {
		c.follows(q, c.broken, now)
		c.broken = nil
	}
	if c.first {
		c.begins(q.watch && !q.streams || q.isCheck())
	}
	if last := c.previous; last != nil && last.early && !q.isList() {
		c.fail("rejects early end bookmarks", "the engine sent no ordinary list after a streaming list with an early initial-events-end bookmark")
	}
	if !c.loose && q.watch && !q.streams && (c.claim.of == nil || number(q.version) != c.claim.revision) {
		c.fail("resumable", "a watch starts at %s, but the claimed resourceVersion is %d", q.version, c.claim.revision)
	}
	if q.token == "" { // the method paged charges the budget for later pages
		c.pay(now)
	}
	c.heard()
	c.setBack = false
	c.oracle.begins(q, now)
	c.limit, c.unread = timeout+lookSlack, claim{}
}

// follows checks that a request agrees with b, the interruption that preceded it.
func (c *checker) follows(q query, b *lw.Interruption, now time.Time) {
	if b.Final {
		c.fail("honors StopOn", "the engine sent a request after the final event")
	}
	if c.deaf.Load() {
		c.fail("wakes", "Options.Wake did not end a delay")
	}
	at := c.requested.Add(b.Delay)
	if woken := c.woken.Swap(0); woken != 0 {
		at = c.start.Add(time.Duration(woken))
		c.trace("  woken")
		c.budget.woke(now)
	}
	if !now.Equal(at) {
		c.fail("follows the interruption", "a request was sent %v after the announced time", now.Sub(at))
	}
	if list := (q.streams || !q.watch) && !q.isCheck(); list != b.Relist {
		c.fail("follows the interruption", "the request contradicts the interruption, whose Relist field is %v", b.Relist)
	}
}

// begins checks a stream's first request. `resumes` is set if that request is a watch.
func (c *checker) begins(resumes bool) {
	if c.first = false; !resumes {
		return
	}
	c.fresh = false
	c.resumed++
	if !c.loose && (c.listing || c.doubt) {
		c.fail("resumable", "a stream starts with a watch, but the list was unfinished (%v) or the store may be wrong (%v)", c.listing, c.doubt)
	}
}

// pay charges the budget for a request. It records a failure if there were too many requests in any time window.
func (c *checker) pay(at time.Time) {
	if c.budget.pay(at); c.budget.excess > inAnyWindow*time.Second {
		c.fail("limits requests", "a time window has more than %d requests in addition to one per second", inAnyWindow)
	}
	if c.sim.asked > most {
		c.fail("limits requests", "too many requests in total: %d", c.sim.asked)
	}
}

// answered records that the header of the response has arrived.
func (c *checker) answered() {
	c.heard()
	c.oracle.opened, c.oracle.slept = c.word, 0
	q := c.conn.query
	switch {
	case q.streams:
		c.limit = 10*time.Second + lookSlack
	case q.watch:
		c.limit = idleLimit
	}
	c.counted = false
}

// countObject charges a list's object to the limit on lists, unless the list has already reached its maximum cost.
func (c *checker) countObject() {
	if !c.counted && c.conn.token == "" {
		c.charged = 0
	}
	c.counted = true
	if c.charged == c.budget.large {
		return
	}
	c.charged++
	if !c.budget.listed(c.oracle.asked) {
		c.fail("limits relists", "too many listed objects: %d within %v", c.budget.listCost(c.oracle.asked, listWindow), listWindow)
	}
}

// paged records that a page is complete. A later page without new objects costs a request from the budget.
func (c *checker) paged(conn *conn) {
	c.oracle.complete = true
	c.owed = 0
	if news := c.budget.page(conn.keys, conn.token == ""); !news && conn.token != "" {
		c.pay(c.oracle.asked)
	}
}

// checked records which change a check has returned. The next watch must deliver it within a few seconds.
func (c *checker) checked(conn *conn) {
	c.checkedAt = time.Now()
	if c.owed = 0; len(conn.keys) > 0 {
		c.owed = number(parsed([]byte(conn.of.at(conn.revision)[conn.keys[0]])).GetResourceVersion())
	}
}

// listed records which revision's objects the store must hold when the list is complete.
func (c *checker) listed(q query, of *incarnation, revision int64) {
	if q.token == "" && revision != 0 {
		c.pledge = claim{of: of, revision: revision}
	}
}

// reads checks that the engine may now read the response.
func (c *checker) reads(conn *conn) {
	c.unread = claim{}
	if conn.watch && !conn.streams && !c.live && c.owed <= c.claim.revision { // a watch is not live before it delivers the change that a check has shown
		c.fail("reports staleness", "the engine reads a watch while the stream is not live")
	}
	if conn.watch && c.live && conn.streams && c.limit < timeout {
		c.limit = idleLimit // the initial objects of the streaming list have arrived
	}
}

func (c *checker) delivered() { c.heard() }

// silence checks that the engine ends a response when its idle timeout has passed.
func (c *checker) silence() {
	if c.ctx.Err() != nil || c.over() {
		return
	}
	limit := c.limit
	if c.conn != nil && c.conn.open && c.conn.line != "" { // the rest of an object may take longer
		limit = max(limit, timeout+lookSlack)
	}
	idle := time.Since(c.word)
	byWall := idle + c.jumped
	if idle > limit || !c.setBack && byWall > limit && time.Since(c.jumpedAt) > lookSlack {
		c.fail("detects silence", "the engine waited %v for bytes, or %v by the wall clock; the maximum is %v", idle, byWall, limit)
	}
}

// known reports whether the engine has read this revision in a history that a restore has since replaced. The restored
// server must not reach that revision again. Otherwise, two states would have the same resourceVersion, and the engine
// could not detect the restore.
func (c *checker) known(revision int64) bool {
	for _, known := range []claim{c.claim, c.pledge, c.unread} {
		if known.revision == revision && known.lost(c.now) {
			return true
		}
	}
	return false
}

// serverRestored records that a backup was restored. `lost` is the first revision that the restore undid. The engine
// may have read this revision without reporting it.
func (c *checker) serverRestored(bump bool, lost claim) {
	if c.unread = lost; !bump {
		c.restores++
	}
}

// ended checks the state when a stream ends. `stopped` is the time at which the context was done, or zero.
func (c *checker) ended(stopped time.Time) {
	if c.failure != nil {
		return
	}
	c.jitters()
	if now := time.Now(); now.After(later(stopped, c.word)) && now.After(c.word) {
		c.fail("stops immediately", "the stream stopped %v after the context was done", now.Sub(stopped))
	}
	if c.conn != nil && c.conn.open {
		c.fail("closes responses", "the stream ended with an open response")
	}
}

// begin resets the checker for a new stream.
func (c *checker) begin(run Subject) {
	c.subject, c.fresh, c.first, c.live, c.broken, c.kindKnown = run, true, true, false, nil, false
	c.oracle, c.budget = &oracle{sim: c.sim}, newBudget(c.pageSize) // the limits apply to each stream separately
	c.woken.Store(0)
	c.previous = nil
	c.heard()
	if c.fold == nil {
		c.fold = map[lw.Key]*lw.Object{}
	}
}

// reborn resets the checker for a restarted process. `saved` reports whether the process has a saved state.
func (c *checker) reborn(saved bool) {
	c.fold, c.listing, c.unversioned = map[lw.Key]*lw.Object{}, false, false
	if c.saved = saved; !saved {
		c.claim, c.doubt = claim{}, false
	}
}
