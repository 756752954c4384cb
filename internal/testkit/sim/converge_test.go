package sim

import "time"

func (c *checker) calm() { c.fair = time.Now() }

const (
	bound      = 12 * time.Minute // maximum time to converge; see "Time to converge" in doc_test.go
	lostBound  = 17 * time.Minute // maximum time to converge if the revision counter was reset
	probeBound = 5 * time.Second
	probeCount = 3
)

// converged checks that the store reaches the server's state within the bound after the faults have stopped. Afterwards
// it checks that new writes arrive.
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
		c.fail("keeps watching", "a write after the faults stopped did not arrive within %v", now.Sub(c.probed))
	case c.settled.IsZero() && now.Sub(c.fair) > limit:
		c.fail("converges", "the store still differs from the server, %v after the faults stopped", now.Sub(c.fair))
	}
}

// isCurrent reports whether the store equals the server's current state and a watch is open.
func (c *checker) isCurrent() bool {
	conn := c.conn
	open := c.live && conn != nil && conn.open && conn.stream != nil && !conn.silent && !conn.ended && conn.at < 0 && conn.until.IsZero()
	if !open || c.claim.lost(c.now) || conn.of != c.now {
		return false
	}
	if c.loose {
		return c.holds(c.now.at(c.now.last()))
	}
	missed := c.now.after(c.claim.revision)
	return missed == 0
}

// holds reports whether c.fold equals want.
func (c *checker) holds(want state) bool {
	for key, object := range c.fold {
		if want[key.String()] != object.Raw() {
			return false
		}
	}
	return len(want) == len(c.fold)
}
