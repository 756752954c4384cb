package sim

import (
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

const most = 20000 // requests of a seed

// asked checks a request that begins.
func (c *checker) asked(q query) {
	now := time.Now()
	c.sim.asked++
	if c.live {
		c.fail("says what is stale", "a request while the stream is called live")
	}
	if c.broken != nil {
		c.told(q, c.broken, now)
		c.broken = nil
	}
	if c.first {
		c.begins(q.watch && !q.streams)
	}
	if last := c.previous; last != nil && last.early && !q.isList() {
		c.fail("distrusts an early mark", "no ordinary list follows a streaming list whose end mark came first")
	}
	if !c.loose && q.watch && !q.streams && (c.claim.of == nil || number(q.version) != c.claim.revision) {
		c.fail("resumable", "a watch from %s at version %d", q.version, c.claim.revision)
	}
	if q.token == "" { // of a page, nobody knows yet whether it is free
		c.pay(now)
	}
	c.heard()
	c.setBack = false
	c.oracle.begins(q, now)
	c.limit, c.unread = timeout+lookSlack, claim{}
}

// told checks a request against the Interruption before it.
func (c *checker) told(q query, b *lw.Interruption, now time.Time) {
	if b.Final {
		c.fail("stops when told", "a request after the end")
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
		c.fail("tells how it goes on", "a request %v off what the break told", now.Sub(at))
	}
	if list := (q.streams || !q.watch) && !q.isCheck(); list != b.Relist {
		c.fail("tells how it goes on", "relist was %v", b.Relist)
	}
}

// begins checks the first request of a run.
func (c *checker) begins(resumes bool) {
	if c.first = false; !resumes {
		return
	}
	c.fresh = false
	c.resumed++
	if !c.loose && (c.listing || c.doubt) {
		c.fail("resumable", "a run begins with a watch, where the store is not whole (%v) or in doubt (%v)", c.listing, c.doubt)
	}
}

// pay checks that there are not too many requests in any window.
func (c *checker) pay(at time.Time) {
	if c.budget.pay(at); c.budget.excess > inAnyWindow*time.Second {
		c.fail("paced", "more than %d requests in a window, besides one a second", inAnyWindow)
	}
	if c.sim.asked > most {
		c.fail("paced", "%d requests in all", c.sim.asked)
	}
}

// answered notes that a response's head has arrived.
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

// countList counts a list that brought an object or was complete.
func (c *checker) countList() {
	if c.counted || c.conn.token != "" {
		return
	}
	c.counted = true
	if n := c.budget.listed(c.oracle.asked); n > listsAtMost {
		c.fail("relists seldom", "%d lists within %v", n, listWindow)
	}
}

// paged settles whether a page that was read to its end is free.
func (c *checker) paged(conn *conn) {
	c.oracle.complete = true
	c.countList()
	if news := c.budget.page(conn.keys, conn.token == ""); !news && conn.token != "" {
		c.pay(c.oracle.asked)
	}
}

// listed notes which version a list will lead to.
func (c *checker) listed(q query, of *incarnation, revision int64) {
	if q.token == "" && revision != 0 {
		c.pledge = claim{of: of, revision: revision}
	}
}

// reads checks what must hold when the engine waits for a response's bytes.
func (c *checker) reads(conn *conn) {
	c.unread = claim{}
	if conn.watch && !conn.streams && !c.live {
		c.fail("says what is stale", "a watch is read, and the stream is not called live")
	}
	if conn.watch && c.live && conn.streams && c.limit < timeout {
		c.limit = idleLimit // the list part is over
	}
}

// delivered notes that bytes came.
func (c *checker) delivered() { c.heard() }

// silence checks that a silence is noticed in time.
func (c *checker) silence() {
	if c.ctx.Err() != nil || c.over() {
		return
	}
	idle := time.Since(c.word)
	byWall := idle + c.jumped
	if idle > c.limit || !c.setBack && byWall > c.limit && time.Since(c.jumpedAt) > lookSlack {
		c.fail("notices silence", "nothing came for %v, or %v by the wall clock, and %v is the longest", idle, byWall, c.limit)
	}
}

// known tells whether a revision is one that a client saw, or will see, of a history that a restore has undone. A server
// that reached it again would look to this client as if nothing had happened.
func (c *checker) known(revision int64) bool {
	for _, known := range []claim{c.claim, c.pledge, c.unread} {
		if known.revision == revision && known.lost(c.now) {
			return true
		}
	}
	return false
}

// restored notes the first revision that is lost: the engine may have read of it already, and not have told.
func (c *checker) restored(bump bool, lost claim) {
	if c.unread = lost; !bump {
		c.restores++
	}
}

// ended checks how a run ended.
func (c *checker) ended(stopped time.Time) {
	if c.failure != nil {
		return
	}
	c.jitters()
	if now := time.Now(); now.After(later(stopped, c.word)) && now.After(c.word) {
		c.fail("stops at once", "%v after the context's end", now.Sub(stopped))
	}
	if c.conn != nil && c.conn.open {
		c.fail("leaves nothing behind", "the sequence is over, and a response is not closed")
	}
}

// begin prepares for a run.
func (c *checker) begin(run Subject) {
	c.subject, c.fresh, c.first, c.live, c.broken, c.kindKnown = run, true, true, false, nil, false
	c.oracle, c.budget = &oracle{sim: c.sim}, newBudget() // how soon a caller begins again is its own affair
	c.woken.Store(0)
	c.previous = nil
	c.heard()
	if c.fold == nil {
		c.fold = map[lw.Key]*lw.Object{}
	}
}

// reborn forgets what the process had in memory. Only the last whole state may have been saved.
func (c *checker) reborn(saved bool) {
	c.fold, c.listing, c.doubt = map[lw.Key]*lw.Object{}, false, false
	if c.saved = saved; !saved {
		c.claim = claim{}
	}
}
