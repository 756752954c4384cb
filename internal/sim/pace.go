package sim

import (
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

const (
	paceWindow = 10 * time.Second
	paceLimit  = 20 // requests within the window that bring nothing new
	most       = 20000
)

// asked checks a request that begins.
func (c *checker) asked(q query) {
	now := time.Now()
	c.sim.asked++
	if c.live {
		c.fail("says what is stale", "a request while the stream is called live")
	}
	if b := c.broken; b != nil {
		c.broken = nil
		if b.Final {
			c.fail("stops when told", "a request after the end")
		}
		if at := c.requested.Add(b.Delay); !now.Equal(at) {
			c.fail("tells how it goes on", "a request %v off what the break told", now.Sub(at))
		}
		check := !q.watch && q.limit == 1 && q.version == ""
		if list := (q.streams || !q.watch) && !check; list != b.Relist {
			c.fail("tells how it goes on", "relist was %v", b.Relist)
		}
	}
	if c.first {
		c.begins(q.watch && !q.streams)
	}
	if q.watch && !q.streams && (c.claim.of == nil || number(q.version) != c.claim.revision) {
		c.fail("resumable", "a watch from %s at version %d", q.version, c.claim.revision)
	}
	if q.token == "" { // the pages of a list follow each other at once
		c.pace(now)
	}
	c.word, c.limit, c.unread = now, timeout+lookSlack, claim{}
}

// begins checks the first request of a run.
func (c *checker) begins(resumes bool) {
	if c.first = false; !resumes {
		return
	}
	c.fresh = false
	c.resumed++
	if c.listing || c.doubt {
		c.fail("resumable", "a run begins with a watch, where the store is not whole (%v) or in doubt (%v)", c.listing, c.doubt)
	}
}

// pace checks that a server is not asked again and again for nothing.
func (c *checker) pace(now time.Time) {
	c.window = append(c.window, now)
	for now.Sub(c.window[0]) > paceWindow {
		c.window = c.window[1:]
	}
	if len(c.window) > paceLimit {
		c.fail("paced", "%d requests within %v that brought nothing", len(c.window), paceWindow)
	}
	if c.sim.asked > most {
		c.fail("paced", "%d requests in all", c.sim.asked)
	}
}

// progress says that the server was not asked for nothing.
func (c *checker) progress() { c.window = c.window[:0] }

// answered notes that a response's head has arrived.
func (c *checker) answered() {
	c.word = time.Now()
	switch q := c.conn.query; {
	case q.streams:
		c.limit = 10*time.Second + lookSlack
	case q.watch:
		c.limit = q.timeout + 5*time.Second + lookSlack
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
		c.limit = conn.timeout + 5*time.Second + lookSlack // the list part is over
	}
}

// delivered notes that bytes came.
func (c *checker) delivered() { c.word = time.Now() }

// silence checks that a silence is noticed in time.
func (c *checker) silence() {
	if c.ctx.Err() != nil || c.over() {
		return
	}
	if d := time.Since(c.word); d > c.limit {
		c.fail("notices silence", "nothing came for %v, and %v is the longest", d, c.limit)
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

func (c *checker) calm() { c.fair = time.Now() }

const (
	bound      = 15 * time.Minute
	lostBound  = 27 * time.Minute // with a counter that went back: a silent watch, and another one from the future
	probeBound = 5 * time.Second
	probeCount = 3
)

// converged checks, once the weather is fair, that the fold becomes the server's state in time, and stays it.
func (c *checker) converged() {
	now := time.Now()
	if c.isCurrent() {
		if c.settled.IsZero() {
			c.settled = now
			c.trace("  settled")
		}
		if c.probes++; c.probes > probeCount {
			c.done = true
			return
		}
		c.probed = now
		c.write()
		for _, r := range c.replicas {
			c.server.catchUp(r)
		}
		c.next = now.Add(probeBound)
		return
	}
	limit := bound
	if c.restores > 0 {
		limit = lostBound
	}
	switch {
	case c.probes > 0 && c.live && now.Sub(c.probed) >= probeBound:
		c.fail("goes on", "a write in fair weather did not arrive within %v", now.Sub(c.probed))
	case c.settled.IsZero() && now.Sub(c.fair) > limit:
		c.fail("converges", "the fold is not the server's state after %v of fair weather", now.Sub(c.fair))
	}
}

// isCurrent tells whether the fold is what the server has now, and a watch will tell what follows.
func (c *checker) isCurrent() bool {
	conn := c.conn
	open := c.live && conn != nil && conn.open && conn.stream != nil && !conn.silent && !conn.ended && conn.at < 0 && conn.until.IsZero()
	if !open || c.claim.lost(c.now) || conn.of != c.now {
		return false
	}
	missed := c.now.after(c.claim.revision)
	return missed == 0
}

// ended checks how a run ended.
func (c *checker) ended(stopped time.Time) {
	if c.failure != nil {
		return
	}
	if now := time.Now(); now.After(later(stopped, c.word)) && now.After(c.word) {
		c.fail("stops at once", "%v after the context's end", now.Sub(stopped))
	}
	if c.conn != nil && c.conn.open {
		c.fail("leaves nothing behind", "the sequence is over, and a response is not closed")
	}
}

// begin prepares for a run.
func (c *checker) begin(run Subject) {
	c.subject, c.fresh, c.first, c.live, c.broken, c.word = run, true, true, false, nil, time.Now()
	c.window = c.window[:0] // how soon a caller begins anew is its own affair
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
