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

// requested returns the revision at which the response starts. For a streaming list, this is the latest revision.
// Otherwise, it is the revision of the requested resourceVersion. If the collection never had that resourceVersion, it
// counts as a revision in the far future.
func (c *call) requested() int {
	if c.streaming() {
		return c.now()
	}
	if revision, ok := c.revisionOf(c.q.Get("resourceVersion")); ok {
		return revision
	}
	return 1 << 30
}

// correct responds as a correct server would.
func correct(c *call) {
	switch {
	case !c.watch:
		list(c)
	case c.streaming():
		do(initial, mark, follow)(c)
	case c.mustList.Load():
		c.write(failed(410, "Expired", "too old resource version"))
	default:
		follow(c)
	}
}

// initial writes an ADDED event for each object of a streaming list.
func initial(c *call) {
	c.mustList.Store(false)
	c.added(c.at(c.from))
}

// mark sends the initial-events-end bookmark, which ends a streaming list. Some scenarios send it again later.
func mark(c *call) { c.write(Bookmark(c.version(max(c.from, c.sent)), "true")) }

// added writes an ADDED event for each of the entries.
func (c *call) added(entries []revlog.Entry[int]) {
	for _, item := range c.items(entries) {
		c.write(frame("ADDED", item))
	}
}

// page is the content of a list response. A list may consist of several pages.
type page struct {
	at    int // revision
	items []string
	next  string // continue token for the next page: the revision and the offset of that page, such as "1024/7"
}

// page returns the requested page.
func (c *call) page() *page {
	p, offset := &page{at: c.now()}, 0
	if token := c.q.Get("continue"); token != "" {
		if _, err := fmt.Sscanf(token, "%d/%d", &p.at, &offset); err != nil {
			c.reject(400, "", Status(400, "BadRequest", "continue key is not valid", ""))
		}
	} else if v := c.q.Get("resourceVersion"); v != "" && v != "0" && c.from > p.at {
		c.reject(504, "1", tooLarge)
	}
	p.items = c.items(c.at(p.at))
	p.items = p.items[min(offset, len(p.items)):]
	if limit, _ := strconv.Atoi(c.q.Get("limit")); limit > 0 && limit < len(p.items) {
		p.items, p.next = p.items[:limit], fmt.Sprintf("%d/%d", p.at, offset+limit)
	}
	return p
}

func (c *call) writePage(p *page) { c.write(List(c.version(p.at), p.next, p.items)) }

// list responds with the requested page of the list.
func list(c *call) {
	if c.q.Get("limit") != "1" { // limit 1 means a check, after which the client still lacks the missed changes
		c.mustList.Store(false)
	}
	c.writePage(c.page())
}

// follow writes all changes after c.from as they happen, and a bookmark every minute. It sends no bookmarks to a watch
// that requested no resourceVersion, or one that the server has not reached yet. It returns after the requested
// timeout.
func follow(c *call) {
	from := c.from
	c.feed(time.Minute, func(c *call) {
		if from <= c.sent {
			bookmark(0)(c)
		}
	})
}

// feed writes all changes after c.from as they happen, and calls act at the given interval. It returns after the
// requested timeout.
func (c *call) feed(interval time.Duration, act step) {
	if v := c.q.Get("resourceVersion"); (v == "" || v == "0") && !c.streaming() {
		// API servers begin such a watch with the current objects, ordered by resourceVersion.
		c.from = c.now()
		entries := c.at(c.from)
		slices.SortFunc(entries, func(a, b revlog.Entry[int]) int { return cmp.Compare(a.Revision, b.Revision) })
		c.added(entries)
	}
	begin(c)
	deadline, tick := time.After(c.timeout()), time.NewTicker(interval)
	defer tick.Stop()
	for {
		changes, now, changed := c.since(c.from)
		for _, change := range changes {
			c.from = int(change.Entry.Revision)
			c.write(c.event(change))
		}
		c.sent = now
		select {
		case <-changed:
		case <-tick.C:
			act(c)
		case <-deadline:
			return
		case <-c.ctx.Done():
			abort(c)
		}
	}
}

// timeout returns the requested timeout of a watch, or the shortest timeout that a kube-apiserver chooses.
func (c *call) timeout() time.Duration {
	seconds, err := strconv.Atoi(c.q.Get("timeoutSeconds"))
	if err != nil {
		return 30 * time.Minute
	}
	return time.Duration(seconds) * time.Second
}
