package hostile

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/revlog"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// rewritten returns a handler that sends correct lists and passes each watch event through edit.
func rewritten(edit func(c *call, change change, event string) string) func(c *call) {
	return onWatch(func(c *call) {
		c.edit = edit
		c.follow(c.from())
	})
}

func unusualServers() []Scenario {
	return []Scenario{
		{Name: "type-last", Does: "writes an event's type after its object", serve: rewritten(func(_ *call, change change, event string) string {
			return `{"object":` + event[strings.Index(event, `"object":`)+9:len(event)-2] + `,"type":"` + eventTypes[change.Type] + "\"}\n"
		})},
		{Name: "escaped", Does: "escapes event types and field names, and ends lines with CRLF", serve: rewritten(func(_ *call, _ change, event string) string {
			return escapeType(event)
		})},
		{Name: "deleted-old-version", Does: "sends deletions at the object's previous resourceVersion", Lies: true, serve: rewritten(func(c *call, change change, event string) string {
			if change.Type == revlog.Deleted {
				return strings.Replace(event, fmt.Sprintf("%q", c.version(int(change.Entry.Revision))), fmt.Sprintf("%q", c.version(change.Entry.Value)), 1)
			}
			return event
		})},
		{Name: "nameless", Does: "sends an object without a name or metadata after each event", Lies: true,
			serve: rewritten(func(c *call, change change, event string) string {
				strange := []string{`{"type":"ADDED","object":{"metadata":{"resourceVersion":"%d"}}}`, `{"type":"ADDED","object":{"metadata":{"name":"","resourceVersion":"%d"}}}`,
					`{"type":"ADDED","object":{"metadata":null,"x":%d}}`, `{"type":"ADDED","object":{"x":%d}}`, `{"type":"DELETED","object":{"metadata":{"name":null,"resourceVersion":"%d"}}}`}
				return event + fmt.Sprintf(strange[c.nth%len(strange)], change.Entry.Revision) + "\n"
			})},
		{Name: "items-first", Does: "writes a list's items before its metadata", Lists: true, serve: onList(func(c *call) {
			at, items, next := c.page()
			c.write(fmt.Sprintf(`{"items":[%s],"metadata":{"continue":%q,"resourceVersion":%q},"kind":"ConfigMapList","apiVersion":"v1"}`, strings.Join(items, ","), next, c.version(at)))
		})},
		{Name: "lagging-lists", Does: "responds to every list with the state from 30 changes ago, whatever resourceVersion is requested", Lists: true, serve: onList(func(c *call) {
			at := c.now() - 30
			c.write(List(c.version(max(at, 1024)), "", c.items(max(at, 1024))))
		})},
		{Name: "error-429", Does: "ends each watch with a 429 ERROR event that has an extreme retry delay", Causes: []error{lw.ErrTooManyRequests},
			serve: onWatch(func(c *call) {
				after := []string{"1000000000", "-5", "0", `"soon"`, "1e3", "9223372036854775807"}[c.nth%6]
				c.news()
				c.write(strings.Replace(failed(429, "TooManyRequests", "slow down"), `"code"`, `"details":{"retryAfterSeconds":`+after+`},"code"`, 1))
			})},
		{Name: "410-pages", Does: "rejects the later pages of each list with 410 and a fresh continue token", Lists: true, Causes: []error{lw.ErrExpired}, serve: onList(func(c *call) {
			if c.q.Get("continue") != "" {
				c.reject(410, "", freshToken)
			}
			c.list()
		})},
		{Name: "too-large", Does: "rejects lists that request a resourceVersion with 504 (too large), and all watches with 410", Lists: true, Causes: []error{lw.ErrResourceVersionTooLarge},
			serve: func(c *call) {
				switch v := c.q.Get("resourceVersion"); {
				case c.watch:
					c.reject(410, "", Status(410, "Expired", "expired", ""))
				case v != "" && v != "0":
					c.reject(504, "1", tooLarge)
				}
				c.list()
			}},
		{Name: "same-token", Does: "sends a continue token that returns the same page again", Lists: true, Causes: []error{lw.ErrInconsistent}, serve: onList(func(c *call) {
			at, items, next := c.page()
			if next != "" {
				next = "1024/7"
			}
			c.write(List(c.version(at), next, items))
		}), Lies: true},
		{Name: "flapping-versions", Does: "ends watches after one event, and alternates between two histories in its lists", Lies: true, Restart: true, Lists: true,
			serve: func(c *call) {
				if c.watch {
					c.news()
					c.write(failed(410, "Expired", "expired"))
					return
				}
				at := c.now()
				c.write(List(c.version(at+c.nth%2*100000), "", c.items(at)))
			}},
		{Name: "bookmarks-forever", Does: "ignores the requested timeout and repeats the same bookmark every 30 seconds", Lies: true,
			serve: onWatch(func(c *call) {
				for ; !c.honest.Load(); c.sleep(30 * time.Second) {
					c.write(Bookmark(c.q.Get("resourceVersion"), ""))
				}
			})},
	}
}

// escapeType replaces the characters in the event's type with \u escapes and ends the event with CRLF.
func escapeType(event string) string {
	kind := event[9:strings.Index(event, `",`)]
	var escaped strings.Builder
	for _, c := range kind {
		fmt.Fprintf(&escaped, `\u%04x`, c)
	}
	return `{"t\u0079pe":"` + escaped.String() + strings.TrimSuffix(event[9+len(kind):], "\n") + "\r\n"
}
