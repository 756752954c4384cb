package hostile

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// onWatch returns a handler that sends correct lists and passes watch requests to serve.
func onWatch(serve func(c *call)) func(c *call) {
	return func(c *call) {
		if !c.watch || c.streaming() {
			c.honestly()
			return
		}
		serve(c)
	}
}

// each returns a handler that responds correctly, but calls act at the given interval while a watch is open.
func each(interval time.Duration, act func(c *call, now int)) func(c *call) {
	return onWatch(func(c *call) {
		c.feed(c.from(), interval, func(now int) { act(c, now) })
	})
}

// news writes the watch's next event and returns its change. If no change is left, it first changes a random
// object.
func (c *call) news() change {
	changes, _, _ := c.since(c.from())
	if len(changes) == 0 {
		c.Step()
		if changes, _, _ = c.since(c.from()); len(changes) == 0 {
			return change{}
		}
	}
	c.write(c.event(changes[0]))
	return changes[0]
}

func correctServers() []Scenario {
	return []Scenario{
		{Name: "streaming", Does: "responds correctly, with streaming lists", serve: (*call).honestly},
		{Name: "listing", Does: "responds correctly, with paginated lists", serve: (*call).honestly, Lists: true},
	}
}

func wrongWatches() []Scenario {
	return []Scenario{
		{Name: "replay", Does: "replays the whole history in every watch",
			serve: onWatch(func(c *call) { c.follow(1000) })},
		{Name: "bookmarks-back", Does: "sends bookmarks with decreasing resourceVersions",
			serve: each(20*time.Second, func(c *call, now int) { c.write(Bookmark(c.version(now-5), "")) })},
		{Name: "bookmarks-ahead", Does: "sends bookmarks with future resourceVersions and then older events", Lies: true, Restart: true,
			serve: each(15*time.Second, func(c *call, now int) { c.write(Bookmark(c.version(now+1e6), "")) })},
		{Name: "foreign", Does: "sends events for another kind and another namespace", Lies: true,
			serve: each(10*time.Second, func(c *call, now int) {
				c.write(strings.NewReplacer(`"ConfigMap"`, `"Secret"`, `"shop"`, `"kube-system"`).Replace(frame("ADDED", c.object("cm-x", now, now))))
			})},
		{Name: "ghosts", Does: "deletes objects that never existed",
			serve: each(7*time.Second, func(c *call, now int) { c.write(frame("DELETED", c.object("ghost", now, now))) })},
		{Name: "two-uids", Does: "adds each object twice, with different UIDs", Lies: true,
			serve: each(7*time.Second, func(c *call, now int) {
				item := c.object("cm-0001", now, now)
				c.write(frame("ADDED", item), frame("ADDED", strings.Replace(item, "u-", "v-", 1)))
			})},
		{Name: "skips", Does: "silently omits every other event", Lies: true,
			serve: onWatch(func(c *call) {
				for from := c.from(); !c.honest.Load(); {
					changes, now, _ := c.since(from)
					for i, change := range changes {
						if i%2 == 0 {
							c.write(c.event(change))
						}
					}
					from = now
					c.sleep(11 * time.Second)
				}
			})},
		{Name: "odd-versions", Does: "sends events with malformed resourceVersions such as 00, -5 and 1e9", Lies: true,
			serve: onWatch(func(c *call) {
				odd := []string{"00", "-5", " 17 ", "1e9", "+7", "99999999999999999999999", "0x7f", "007", "\t"}
				c.write(strings.Replace(frame("MODIFIED", c.object("cm-0001", 1, 123456)), `123456`, odd[c.nth%len(odd)], 1))
				c.sleep(3 * time.Second)
			})},
		{Name: "version-zero", Does: "ends each watch after 20 seconds with a bookmark at resourceVersion 0 and then deletes an object", Lies: true, Restart: true,
			serve: onWatch(func(c *call) {
				end := time.Now().Add(20 * time.Second)
				c.feed(c.from(), time.Second, func(int) {
					if time.Now().After(end) {
						c.write(Bookmark("0", ""))
						c.remove()
						c.stop()
					}
				})
			})},
		{Name: "no-version", Does: "closes each watch after one event without a resourceVersion", Lies: true,
			serve: onWatch(func(c *call) {
				c.write(strings.Replace(frame("MODIFIED", c.object("cm-0001", 1, 123456)), `,"resourceVersion":"123456"`, ``, 1))
			})},
		{Name: "number-version", Does: "sends resourceVersions as JSON numbers",
			serve: onWatch(func(c *call) {
				c.write(strings.Replace(frame("MODIFIED", c.object("cm-0001", 1, c.now())), fmt.Sprintf("%q", c.version(c.now())), c.version(c.now()), 1))
			})},
		{Name: "two-versions", Does: "sends objects with a wrong and then the correct resourceVersion", serve: rewritten(func(_ *call, _ change, event string) string {
			return strings.Replace(event, `"resourceVersion"`, `"resourceVersion":"7","resourceVersion"`, 1)
		})},
		{Name: "two-replicas", Does: "serves lists from a replica that lags by ten changes, and watches from an up-to-date replica",
			serve: func(c *call) {
				if c.watch && !c.streaming() {
					c.follow(c.from())
				} else if at := c.now() - 10; c.watch {
					c.initial(at)
					c.write(Bookmark(c.version(at), "true"))
					c.sleep(20 * time.Second)
				} else {
					c.write(List(c.version(at), "", c.items(at)))
				}
			}},
	}
}

func shortWatches() []Scenario {
	pause := 999 * time.Millisecond
	return []Scenario{
		{Name: "at-timeout", Does: "sends one event just before the timeout", Causes: []error{lw.ErrWatchClosed},
			serve: onWatch(func(c *call) {
				c.begin()
				c.sleep(c.timeout() - time.Nanosecond)
				c.news()
				c.sleep(time.Nanosecond)
			})},
		{Name: "999ms", Does: "closes each watch after 999 ms", Causes: []error{lw.ErrWatchClosed}, serve: onWatch(func(c *call) { c.begin(); c.sleep(pause) })},
		{Name: "999ms-reset", Does: "resets each watch after 999 ms", Causes: []error{errReset},
			serve: onWatch(func(c *call) { c.begin(); c.sleep(pause); c.abort() })},
		{Name: "999ms-event", Does: "sends one event after 999 ms in each watch and then closes the watch", serve: onWatch(func(c *call) { c.begin(); c.sleep(pause); c.news() })},
		{Name: "one-event", Does: "closes each watch after one event", serve: onWatch(func(c *call) { c.news() })},
		{Name: "one-event-reset", Does: "resets the connection of each watch after one event", Causes: []error{errReset},
			serve: onWatch(func(c *call) { c.news(); c.abort() })},
		{Name: "one-event-opaque", Does: "closes each watch after one event with an opaque resourceVersion",
			version: func(n int) string { return fmt.Sprintf("etag-%x", n*7919) }, serve: onWatch(func(c *call) { c.news() })},
		{Name: "one-event-equal", Does: "closes each watch after repeating the event at the requested resourceVersion",
			serve: onWatch(func(c *call) {
				changes, _, _ := c.since(c.from() - 1)
				c.write(c.event(changes[0]))
			})},
		{Name: "half-event", Does: "closes each watch in the middle of its second event", Causes: []error{io.ErrUnexpectedEOF},
			serve: onWatch(func(c *call) { c.news(); c.write(`{"type":"ADDED","object":{"kind":"Conf`) })},
		{Name: "instant", Does: "closes each watch immediately", Causes: []error{lw.ErrWatchClosed, lw.ErrExpired}, serve: onWatch((*call).begin)},
		{Name: "white-space", Does: "sends nothing but one byte of white space every 30 seconds", Causes: []error{lw.ErrSilent},
			serve: onWatch(func(c *call) {
				for ; ; c.sleep(30 * time.Second) {
					c.write(" ")
				}
			})},
		{Name: "slow-bytes", Does: "sends events at one byte per second", slow: true,
			serve: rewritten(func(c *call, _ change, event string) string { return c.drip(event, time.Second) })},
		{Name: "endless-object", Does: "sends an endless object at 10 kB per second",
			serve: onWatch(func(c *call) {
				c.write(`{"type":"ADDED","object":{"data":"`)
				for text := strings.Repeat("x", 10_000); !c.honest.Load(); c.sleep(time.Second) {
					c.write(text)
				}
				c.abort()
			})},
		{Name: "blank-object", Does: "sends the start of an object and then one byte of white space per second", Causes: []error{lw.ErrSilent},
			serve: onWatch(func(c *call) {
				for c.write(`{"type":"ADDED","object":{`); ; c.sleep(time.Second) {
					c.write(" ")
				}
			})},
		{Name: "no-newlines", Does: "sends events without newlines between them",
			serve: rewritten(func(_ *call, _ change, event string) string { return strings.TrimSpace(event) })},
		{Name: "bookmark-then-silent", Does: "sends one bookmark and then nothing", Causes: []error{lw.ErrSilent},
			serve: onWatch(func(c *call) { c.write(Bookmark(c.version(c.from()), "")); c.hang() })},
		{Name: "one-bookmark", Does: "closes each watch after a bookmark with the requested resourceVersion", Causes: []error{lw.ErrWatchClosed},
			serve: onWatch(func(c *call) { c.write(Bookmark(c.q.Get("resourceVersion"), "")) })},
	}
}
