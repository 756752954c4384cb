package sim

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// checker holds the engine to its promises.
type checker struct {
	*sim
	subject Subject
	ctx     context.Context

	fold    map[lw.Key]*lw.Object // the sum of all changes
	claim   claim                 // what the store says that it is
	pledge  claim                 // what the list under way will make of it
	unread  claim                 // what the engine may have read before a restore, and not told yet
	fresh   bool                  // a new run has not finished its first list, if it began with one
	first   bool                  // a new run has made no request
	saved   bool                  // the next run begins with a saved state, of the claimed version
	doubt   bool                  // versions were found to have run backwards, and no list is complete since
	resumed int                   // runs that began with a watch
	listing bool                  // between Reset and Synced
	live    bool                  // Live is the last word
	broken  *lw.Interruption      // the last one told, until the next request
	stopsOn bool                  // Options.StopOn stops at 401, 403 and 404
	oracle  *oracle
	budget  *budget
	woken   atomic.Int64 // when a delay was ended by Options.Wake, in nanoseconds since the start
	deaf    atomic.Bool  // the engine waited, and Options.Wake did not reach it

	previous  *conn  // the request before the one that begins
	loose     bool   // the server has a habit with which nobody can say what the next event must be
	version   string // that was told last, if loose
	delays    delays
	counted   bool          // the list under way counts for the limit of lists
	kindKnown bool          // this run has read an ordinary list to its end
	jumped    time.Duration // what the wall clock jumped since word
	jumpedAt  time.Time
	setBack   bool // the wall clock was set back during this request, and nobody can say since when the engine counts

	requested time.Time // when the next request is due
	word      time.Time // when the engine was last given the word, or bytes
	limit     time.Duration
	restores  int       // after which the counter went back
	fair      time.Time // when the weather cleared up
	settled   time.Time // when the fold was found equal after that
	probes    int       // writes since then that must arrive at once
	probed    time.Time
}

const (
	lookSlack = 10500 * time.Millisecond // how late a watchdog may look
	timeout   = 90 * time.Second
	idleLimit = 150 * time.Second // of a watch, until the engine must have noticed
)

// event checks one event with its changes.
func (c *checker) event(e lw.Event[*lw.Object], changes []cache.Change[*lw.Object]) {
	c.describe(e, changes)
	if c.broken != nil && c.broken.Final {
		c.fail("stops when told", "%v came after the end", e.Type)
	}
	if c.ctx.Err() != nil {
		c.fail("stops at once", "%v came after the context's end", e.Type)
	}
	switch e.Type {
	case lw.ListStarted:
		c.reset(e)
	case lw.Synced:
		c.synced(e)
	case lw.WatchStarted:
		c.becameLive(e)
	case lw.Interrupted:
		c.interrupted(e)
	case lw.Bookmark:
		c.bookmarked(e)
	default:
		c.changed(e)
	}
	c.changes(e, changes)
	c.compare()
	c.heard()
}

// heard notes that something came, or that the caller gave the word back.
func (c *checker) heard() {
	c.oracle.slept += c.jumped
	c.word, c.jumped = time.Now(), 0
}

func (c *checker) reset(e lw.Event[*lw.Object]) {
	c.listing = true
	if c.live || e.ResourceVersion != "" {
		c.fail("says what is stale", "LIST_STARTED@%s while live is %v", e.ResourceVersion, c.live)
	}
}

func (c *checker) synced(e lw.Event[*lw.Object]) {
	before := c.claim
	if !c.listing {
		c.fail("brackets lists", "SYNCED without LIST_STARTED")
	}
	c.listing, c.doubt = false, false
	if c.saved {
		c.replayed(e)
		return
	}
	if c.conn.foreign {
		c.fail("the fold is the server's state", "a list was taken that is none of the collection")
	}
	c.countList()
	c.oracle.synced, c.kindKnown = true, c.kindKnown || !c.conn.watch
	c.oracle.nameless = c.conn.nameless
	if c.loose {
		c.fresh, c.version = false, e.ResourceVersion
		return
	}
	c.claim = claim{of: c.conn.of, revision: number(e.ResourceVersion)}
	if before.of == c.claim.of && c.claim.revision < before.revision && !c.fresh {
		c.fail("never goes back", "a list at %d after version %d", c.claim.revision, before.revision)
	}
	c.fresh = false
}

// replayed checks the end of a saved state, for which nobody was asked.
func (c *checker) replayed(e lw.Event[*lw.Object]) {
	if c.saved = false; !c.first || number(e.ResourceVersion) != c.claim.revision {
		c.fail("restores what was saved", "version %s, where %d was saved", e.ResourceVersion, c.claim.revision)
	}
}

func (c *checker) becameLive(e lw.Event[*lw.Object]) {
	c.live = true
	switch conn := c.conn; {
	case c.listing:
		c.fail("live is live", "WATCH_STARTED within a list")
	case c.loose && conn.watch && conn.open:
	case !conn.watch || !conn.open || !conn.streams && conn.version != e.ResourceVersion:
		c.fail("live is live", "WATCH_STARTED@%s, but no watch is open from there", e.ResourceVersion)
	case number(e.ResourceVersion) != c.claim.revision:
		c.fail("live is live", "WATCH_STARTED@%s at version %d", e.ResourceVersion, c.claim.revision)
	}
}

func (c *checker) interrupted(e lw.Event[*lw.Object]) {
	c.live, c.broken = false, e.Interruption
	conn := c.conn
	c.doubt = c.doubt || conn.rejection.tooLarge() || conn.regressed || conn.older(c.claim.revision)
	if conn.open {
		c.fail("leaves nothing behind", "interrupted, and the response is not closed")
	}
	if stops := c.stopsOn && conn.rejection.final(); stops != e.Interruption.Final {
		c.fail("stops when told", "at %v: final is %v", conn.rejection, e.Interruption.Final)
	}
	if conn.token != "" && !c.oracle.complete {
		c.budget.tokens -= time.Second // nobody knows whether a page was paid for that did not come
	}
	if now := time.Now(); !e.Interruption.Final && !c.over() {
		c.oracle.broke(e.Interruption, now, c.budget.wait(now))
	}
}

// wakeLater wakes the engine in the middle of a delay, one time in ten.
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

// changed checks an object's event: in a list it has no version; in a watch it is what the server did next.
func (c *checker) changed(e lw.Event[*lw.Object]) {
	if c.listing {
		if e.ResourceVersion != "" {
			c.fail("brackets lists", "%v@%s within a list", e.Type, e.ResourceVersion)
		}
		if !c.saved {
			c.countList()
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
		c.fail("live is live", "%v@%d while not live", e.Type, version)
	case next == 0 || version != next:
		c.fail("ordered, unique, reliable", "%v@%d where %d should follow %d", e.Type, version, next, c.claim.revision)
	default:
		w := c.conn.of.write(next)
		if e.Type.String() != eventKinds[w.kind] || e.Object.Key().String() != w.key || e.Object.Raw() != w.value.text(w.key, next) {
			c.fail("ordered, unique, reliable", "%v %v@%d is not what the server did", e.Type, e.Object.Key(), version)
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
		c.fail("live is live", "a bookmark @%d while not live", version)
	case version < c.claim.revision:
		c.fail("never goes back", "a bookmark @%d after version %d", version, c.claim.revision)
	case missed != 0 && missed <= version:
		c.fail("bookmarkable", "a bookmark @%d, and version %d was not seen", version, missed)
	case version > max(c.claim.revision, c.conn.of.last()):
		c.fail("bookmarkable", "a bookmark @%d, which the server has not reached", version)
	}
	if version > c.claim.revision {
		c.oracle.news = true
		c.claim = claim{of: c.conn.of, revision: version}
	}
}

// describe traces an event. A sweep's changes come in no order.
func (c *checker) describe(e lw.Event[*lw.Object], changes []cache.Change[*lw.Object]) {
	text := e.Type.String()
	if e.Object != nil {
		text += " " + e.Object.Key().String() + " (" + e.Object.GetResourceVersion() + ")"
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
		lines = append(lines, change.Type.String()+" "+object.Key().String())
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
