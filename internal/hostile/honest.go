package hostile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/revlog"
)

// tooLarge is the Status for a resourceVersion that the server has not reached yet.
var tooLarge = Status(504, "Timeout", "Timeout: Too large resource version", TooLarge)

func (c *call) streaming() bool { return c.q.Get("sendInitialEvents") == "true" }

// from returns the revision for the requested resourceVersion. An unknown resourceVersion counts as one in the far
// future.
func (c *call) from() int {
	if revision, ok := c.revisionOf(c.q.Get("resourceVersion")); ok {
		return revision
	}
	return 1 << 30
}

// honestly responds as a correct server would.
func (c *call) honestly() {
	switch {
	case !c.watch:
		c.list()
	case c.streaming():
		at := c.now()
		c.initial(at)
		c.write(Bookmark(c.version(at), "true"))
		c.follow(at)
	case c.mustList.Load():
		c.write(failed(410, "Expired", "too old resource version"))
	default:
		c.follow(c.from())
	}
}

// synthetic writes the current objects as ADDED events, ordered by resourceVersion, and returns the current
// revision. API servers do this if a watch has no resourceVersion.
func (c *call) synthetic() int {
	revision := c.now()
	entries := c.at(revision)
	slices.SortFunc(entries, func(a, b revlog.Entry[int]) int { return cmp.Compare(a.Revision, b.Revision) })
	for _, e := range entries {
		c.write(frame("ADDED", c.object(e.Key, e.Value, int(e.Revision))))
	}
	return revision
}

// initial writes an ADDED event for each object that existed at a revision.
func (c *call) initial(at int) {
	c.mustList.Store(false)
	for _, item := range c.items(at) {
		c.write(frame("ADDED", item))
	}
}

// page returns the requested page's revision, its items and the token for the next page.
func (c *call) page() (at int, items []string, next string) {
	at, offset := c.now(), 0
	if token := c.q.Get("continue"); token != "" {
		if _, err := fmt.Sscanf(token, "%d/%d", &at, &offset); err != nil {
			c.reject(400, "", Status(400, "BadRequest", "continue key is not valid", ""))
		}
	} else if v := c.q.Get("resourceVersion"); v != "" && v != "0" && c.from() > at {
		c.reject(504, "1", tooLarge)
	}
	items = c.items(at)
	items = items[min(offset, len(items)):]
	if limit, _ := strconv.Atoi(c.q.Get("limit")); limit > 0 && limit < len(items) {
		return at, items[:limit], fmt.Sprintf("%d/%d", at, offset+limit)
	}
	return at, items, ""
}

// list responds with the requested page of the list.
func (c *call) list() {
	if c.q.Get("limit") != "1" { // not for a check, which does not show the client the changes that it has missed
		c.mustList.Store(false)
	}
	at, items, next := c.page()
	c.write(List(c.version(at), next, items))
}

// follow writes all changes after a revision as they happen, and a bookmark every minute. It returns after the
// requested timeout.
func (c *call) follow(from int) {
	c.feed(from, time.Minute, func(now int) {
		if from <= now {
			c.write(Bookmark(c.version(now), ""))
		}
	})
}

// feed writes all changes after a revision as they happen. At the given interval, it also calls report with the
// current revision. It returns after the requested timeout.
func (c *call) feed(from int, interval time.Duration, report func(now int)) {
	if v := c.q.Get("resourceVersion"); (v == "" || v == "0") && !c.streaming() {
		from = c.synthetic()
	}
	c.begin()
	deadline, tick := time.After(c.timeout()), time.NewTicker(interval)
	defer tick.Stop()
	for {
		changes, now, changed := c.since(from)
		for _, change := range changes {
			event := c.event(change)
			if c.edit != nil {
				event = c.edit(c, change, event)
			}
			c.write(event)
			from = int(change.Entry.Revision)
		}
		select {
		case <-changed:
		case <-tick.C:
			report(now)
		case <-deadline:
			return
		case <-c.ctx.Done():
			c.abort()
		}
	}
}

func (c *call) timeout() time.Duration {
	seconds, _ := strconv.Atoi(c.q.Get("timeoutSeconds"))
	return time.Duration(seconds) * time.Second
}
