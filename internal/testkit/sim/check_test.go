package sim

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// checker checks the guarantees that the package comment lists.
type checker struct {
	*sim
	subject Subject
	ctx     context.Context

	fold     map[lw.Key]*lw.Object // objects that all changes reported so far add up to
	claim    claim                 // revision of the server's data that the store must match
	pledge   claim                 // becomes claim when the current list completes
	unread   claim                 // revision that the engine may have read before a restore but has not reported yet
	fresh    bool                  // the stream has not completed its first list yet
	first    bool                  // the stream has not sent a request yet
	saved    bool                  // the next stream starts with a saved copy of the claimed state
	doubt    bool                  // something since the last complete list, perhaps before a restart, may have made the store wrong
	resumed  int                   // number of streams that started with a watch
	listing  bool                  // a list has started but is not complete
	live     bool                  // the stream is between WatchStarted and Interrupted
	broken   *lw.Interruption      // latest interruption; nil after the next request
	pageSize int                   // Options.PageSize
	stopsOn  bool                  // Options.StopOn stops at 401, 403 and 404
	oracle   *oracle
	budget   *budget
	woken    atomic.Int64 // when Options.Wake last ended a delay, in nanoseconds since the start
	deaf     atomic.Bool  // the engine ignored Options.Wake during a delay

	unversioned bool // the store holds a saved state and must relist

	previous  *conn         // the request before the current one
	loose     bool          // a lasting server fault makes the next event unpredictable, so exact checks are disabled
	version   string        // resourceVersion of the latest event; used only if loose is set
	delays    delays        // all delays so far
	counted   bool          // the current response has delivered an object of a list
	charged   int           // number of objects of the current list that are charged to the limit on lists
	kindKnown bool          // the object kind is known, because an ordinary list has completed
	jumped    time.Duration // total jumps of the wall clock since the engine last received bytes
	jumpedAt  time.Time     // time of the latest jump
	setBack   bool          // the wall clock was set back during this request, so its idle time is unknown

	requested time.Time     // start of the delay before the next request
	word      time.Time     // time at which the engine last received bytes, or the caller last returned control to it
	limit     time.Duration // maximum time without data before the engine must end the current request
	owed      int64         // revision of the object that the latest check has returned; a watch is live only after it
	checkedAt time.Time     // time at which the latest check ended
	restores  int           // number of restored backups that reset the revision counter
	fair      time.Time     // time at which the faults stopped
	settled   time.Time     // when the store first had the server's state after the faults stopped
	probes    int           // number of writes after convergence; each must arrive within probeBound
	probed    time.Time     // time of the latest of these writes
}

const (
	lookSlack = 10500 * time.Millisecond // maximum time between two checks by the engine's watchdog
	timeout   = 90 * time.Second         // maximum time without data in a request other than a watch; lookSlack is added
	idleLimit = 150 * time.Second        // maximum time without data before the engine ends a watch
)

// event checks one of the stream's events and the changes that it causes in the store.
func (c *checker) event(e lw.Event[*lw.Object], changes []cache.Change[*lw.Object]) {
	c.describe(e, changes)
	if c.broken != nil && c.broken.Final {
		c.fail("honors StopOn", "%v came after the final event", e.Type)
	}
	if c.ctx.Err() != nil {
		c.fail("stops immediately", "%v came after the context was done", e.Type)
	}
	switch e.Type {
	case lw.ListStarted:
		c.reset(e)
	case lw.Synced:
		c.synced(e)
	case lw.Restored:
		c.restored(e)
	case lw.WatchStarted:
		c.becameLive(e)
	case lw.Interrupted:
		c.interrupted(e)
	case lw.Bookmark:
		c.bookmarked(e)
	default:
		c.changed(e)
	}
	if c.subject.State != nil {
		c.phase(c.subject.State().Phase)
	}
	c.changes(e, changes)
	c.compare()
	c.heard()
}

// heard records that the engine received bytes, or that the caller returned control to it.
func (c *checker) heard() {
	c.oracle.slept += c.jumped
	c.word, c.jumped = time.Now(), 0
}

// phase checks that the subject's phase is Live exactly while one of the server's watches is open.
func (c *checker) phase(phase lw.Phase) {
	switch {
	case (phase == lw.Live) != c.live:
		c.fail("is live only with the server", "the phase is %v, but a watch is open: %v", phase, c.live)
	case c.broken != nil && c.broken.Final != (phase == lw.Stopped):
		c.fail("is live only with the server", "the phase is %v after an interruption whose Final value is %v", phase, c.broken.Final)
	}
}

func (c *checker) reset(e lw.Event[*lw.Object]) {
	c.listing = true
	if c.live || e.ResourceVersion != "" {
		c.fail("reports staleness", "LIST_STARTED@%s must have no resourceVersion and must not come while the stream is live (live: %v)", e.ResourceVersion, c.live)
	}
}

func (c *checker) synced(e lw.Event[*lw.Object]) {
	before := c.claim
	if !c.listing {
		c.fail("brackets lists", "SYNCED came without LIST_STARTED")
	}
	c.listing = false
	c.doubt, c.unversioned = false, false
	if c.conn.foreign {
		c.fail("equals the server's state", "the engine accepted a list of another collection")
	}
	c.oracle.synced, c.kindKnown = true, c.kindKnown || !c.conn.watch
	if c.oracle.unversioned = c.conn.unversioned; c.conn.watch {
		c.oracle.listed = time.Since(c.oracle.opened)
	}
	if c.loose {
		c.fresh, c.version = false, e.ResourceVersion
		return
	}
	c.claim = claim{of: c.conn.of, revision: number(e.ResourceVersion)}
	if before.of == c.claim.of && c.claim.revision < before.revision && !c.fresh {
		c.fail("never decreases", "a list at resourceVersion %d came after resourceVersion %d", c.claim.revision, before.revision)
	}
	c.fresh = false
}

// restored checks the Restored event in a stream with a saved state. If the process that saved it had to relist,
// the state must have no resourceVersion.
func (c *checker) restored(e lw.Event[*lw.Object]) {
	c.listing, c.unversioned = false, c.doubt
	if !c.saved {
		c.fail("restores the saved state", "the stream restored a state, but there was no saved state")
	}
	if c.saved = false; !c.first || number(e.ResourceVersion) != c.storeVersion() {
		c.fail("restores the saved state", "the stream restored resourceVersion %s, but the saved resourceVersion is %d", e.ResourceVersion, c.storeVersion())
	}
}

// storeVersion returns the resourceVersion that the store must have, or number("") if it must have none.
func (c *checker) storeVersion() int64 {
	if c.unversioned {
		return number("")
	}
	return c.claim.revision
}

func (c *checker) becameLive(e lw.Event[*lw.Object]) {
	c.live = true
	switch conn := c.conn; {
	case c.listing:
		c.fail("watches while live", "WATCH_STARTED came during a list")
	case c.loose && conn.watch && conn.open:
	case !conn.watch || !conn.open || !conn.streams && conn.version != e.ResourceVersion:
		c.fail("watches while live", "WATCH_STARTED@%s came without an open watch from this resourceVersion", e.ResourceVersion)
	case number(e.ResourceVersion) != c.claim.revision:
		c.fail("watches while live", "WATCH_STARTED@%s came, but the claimed resourceVersion is %d", e.ResourceVersion, c.claim.revision)
	}
}

func (c *checker) interrupted(e lw.Event[*lw.Object]) {
	c.live, c.broken = false, e.Interruption
	conn := c.conn
	c.doubt = c.doubt || conn.rejection.tooLarge() || conn.regressed || conn.older(c.claim.revision) ||
		errors.Is(e.Interruption.Err, lw.ErrInconsistent)
	if conn.open {
		c.fail("closes responses", "the interruption came before the response was closed")
	}
	if stops := c.stopsOn && conn.rejection.final(); stops != e.Interruption.Final {
		c.fail("honors StopOn", "the interruption after %v has the wrong Final value %v", conn.rejection, e.Interruption.Final)
	}
	if conn.token != "" && !c.oracle.complete {
		c.budget.tokens -= time.Second // the engine may have charged its request budget for the failed page
	}
	if now := time.Now(); !e.Interruption.Final && !c.over() {
		c.oracle.broke(e.Interruption, now, c.budget.wait(now))
	}
}

// wakeLater schedules a send to Options.Wake during about one in ten delays.
func (c *checker) wakeLater(delay time.Duration) {
	if c.wake == nil || delay < time.Millisecond || !c.oneIn(10) {
		return
	}
	ctx := c.ctx
	time.AfterFunc(c.upTo(delay-1), func() {
		if ctx.Err() != nil {
			return
		}
		c.woken.Store(int64(time.Since(c.start)))
		select {
		case c.wake <- struct{}{}:
		default:
			c.deaf.Store(true)
		}
	})
}

// changed checks an event with an object. In a list, the event must not have a resourceVersion. In a watch, it must
// be the server's next change.
func (c *checker) changed(e lw.Event[*lw.Object]) {
	if c.listing {
		if e.ResourceVersion != "" {
			c.fail("brackets lists", "%v@%s came during a list", e.Type, e.ResourceVersion)
		}
		if !c.saved {
			c.countObject()
		}
		return
	}
	if c.oracle.news = true; c.loose {
		c.version = e.ResourceVersion
		return
	}
	next, version := c.conn.of.after(c.claim.revision), number(e.ResourceVersion)
	switch {
	case !c.live:
		c.fail("watches while live", "%v@%d came while the stream was not live", e.Type, version)
	case next == 0 || version != next:
		c.fail("ordered, unique, reliable", "%v@%d came, but the server's next change is %d (after %d)", e.Type, version, next, c.claim.revision)
	default:
		w := c.conn.of.write(next)
		if e.Type.String() != eventKinds[w.kind] || lw.KeyOf(e.Object).String() != w.key || e.Object.Raw() != w.value.text(w.key, next) {
			c.fail("ordered, unique, reliable", "%v %v@%d differs from the server's change", e.Type, lw.KeyOf(e.Object), version)
		}
	}
	c.claim = claim{of: c.conn.of, revision: version}
}

func (c *checker) bookmarked(e lw.Event[*lw.Object]) {
	if c.loose {
		c.oracle.news = c.oracle.news || e.ResourceVersion != c.version
		c.version = e.ResourceVersion
		return
	}
	version := number(e.ResourceVersion)
	missed := c.conn.of.after(c.claim.revision)
	switch {
	case !c.live || c.listing:
		c.fail("watches while live", "a bookmark @%d came while the stream was not live", version)
	case version < c.claim.revision:
		c.fail("never decreases", "a bookmark @%d came after resourceVersion %d", version, c.claim.revision)
	case missed != 0 && missed <= version:
		c.fail("bookmarkable", "a bookmark @%d came before the event @%d", version, missed)
	case version > max(c.claim.revision, c.conn.of.last()):
		c.fail("bookmarkable", "a bookmark @%d came, but the server has not reached this resourceVersion", version)
	}
	if version > c.claim.revision {
		c.oracle.news = true
		c.claim = claim{of: c.conn.of, revision: version}
	}
}

// describe adds an event and its changes to the trace. It sorts the changes, because a relist deletes objects in random
// order.
func (c *checker) describe(e lw.Event[*lw.Object], changes []cache.Change[*lw.Object]) {
	text := e.Type.String()
	if e.Object != nil {
		text += " " + lw.KeyOf(e.Object).String() + " (" + e.Object.GetResourceVersion() + ")"
	}
	if b := e.Interruption; b != nil {
		text += " " + b.Err.Error() + ", delay " + b.Delay.String() + ", relist " + strconv.FormatBool(b.Relist)
	}
	var lines []string
	for _, change := range changes {
		object := change.New
		if object == nil {
			object = change.Old
		}
		lines = append(lines, change.Type.String()+" "+lw.KeyOf(object).String())
	}
	slices.Sort(lines)
	c.trace("  %s @%s %v", text, e.ResourceVersion, lines)
}

func number(version string) int64 {
	n, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return -1
	}
	return n
}
