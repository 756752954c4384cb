package servers

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

// each returns a handler that responds correctly and also calls act at the given interval while a watch is open.
func each(interval time.Duration, act func(c *call, now int)) func(c *call) {
	return onWatch(func(c *call) {
		c.feed(c.from(), interval, func(now int) { act(c, now) })
	})
}

// news writes the next event of the watch and returns its change. If there is no next change, news first changes a
// random object.
func (c *call) news() change {
	changes, _, _ := c.since(c.from())
	if len(changes) == 0 {
		c.step()
		if changes, _, _ = c.since(c.from()); len(changes) == 0 {
			return change{}
		}
	}
	c.write(c.event(changes[0]))
	return changes[0]
}

func correctServers() []server {
	return []server{
		{name: "streaming", does: "responds correctly, with streaming lists", serve: (*call).honestly},
		{name: "listing", does: "responds correctly, with paginated lists", serve: (*call).honestly, opts: ordinary},
	}
}

func wrongWatches() []server {
	return []server{
		{name: "replay", does: "replays the whole history in every watch",
			serve: onWatch(func(c *call) { c.follow(1000) })},
		{name: "bookmarks-back", does: "sends bookmarks with decreasing resourceVersions",
			serve: each(20*time.Second, func(c *call, now int) { c.write(bookmark(c.version(now-5), false)) })},
		{name: "bookmarks-ahead", does: "sends bookmarks with future resourceVersions and then older events", lies: true, restart: true,
			serve: each(15*time.Second, func(c *call, now int) { c.write(bookmark(c.version(now+1e6), false)) })},
		{name: "foreign", does: "sends events for another kind and another namespace", lies: true,
			serve: each(10*time.Second, func(c *call, now int) {
				c.write(strings.NewReplacer(`"ConfigMap"`, `"Secret"`, `"shop"`, `"kube-system"`).Replace(frame("ADDED", c.object("cm-x", now, now))))
			})},
		{name: "ghosts", does: "deletes objects that never existed",
			serve: each(7*time.Second, func(c *call, now int) { c.write(frame("DELETED", c.object("ghost", now, now))) })},
		{name: "two-uids", does: "adds each object twice, with different UIDs", lies: true,
			serve: each(7*time.Second, func(c *call, now int) {
				item := c.object("cm-0001", now, now)
				c.write(frame("ADDED", item), frame("ADDED", strings.Replace(item, "u-", "v-", 1)))
			})},
		{name: "skips", does: "silently omits every other event", lies: true,
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
		{name: "odd-versions", does: "sends events with malformed resourceVersions such as 00, -5 and 1e9", lies: true,
			serve: onWatch(func(c *call) {
				odd := []string{"00", "-5", " 17 ", "1e9", "+7", "99999999999999999999999", "0x7f", "007", "\t"}
				c.write(strings.Replace(frame("MODIFIED", c.object("cm-0001", 1, 123456)), `123456`, odd[c.nth%len(odd)], 1))
				c.sleep(3 * time.Second)
			})},
		{name: "version-zero", does: "ends each watch after 20 seconds with a bookmark at resourceVersion 0 and then deletes an object", lies: true, restart: true,
			serve: onWatch(func(c *call) {
				end := time.Now().Add(20 * time.Second)
				c.feed(c.from(), time.Second, func(int) {
					if time.Now().After(end) {
						c.write(bookmark("0", false))
						_ = c.pipe.Close()
						c.remove()
						c.stop()
					}
				})
			})},
		{name: "no-version", does: "closes each watch after one event without a resourceVersion", lies: true,
			serve: onWatch(func(c *call) {
				c.write(strings.Replace(frame("MODIFIED", c.object("cm-0001", 1, 123456)), `,"resourceVersion":"123456"`, ``, 1))
			})},
		{name: "number-version", does: "sends resourceVersions as JSON numbers",
			serve: onWatch(func(c *call) {
				c.write(strings.Replace(frame("MODIFIED", c.object("cm-0001", 1, c.now())), fmt.Sprintf("%q", c.version(c.now())), c.version(c.now()), 1))
			})},
		{name: "two-versions", does: "sends objects with two resourceVersions, of which the second is correct", serve: rewritten(func(_ *call, _ change, event string) string {
			return strings.Replace(event, `"resourceVersion"`, `"resourceVersion":"7","resourceVersion"`, 1)
		})},
		{name: "two-replicas", does: "serves lists from a replica that lags by ten changes, and watches from an up-to-date replica",
			serve: func(c *call) {
				if c.watch && !c.streaming() {
					c.follow(c.from())
				} else if at := c.now() - 10; c.watch {
					c.initial(at)
					c.write(bookmark(c.version(at), true))
					c.sleep(20 * time.Second)
				} else {
					c.write(document(c.version(at), "", c.items(at)))
				}
			}},
	}
}

func shortWatches() []server {
	pause := 999 * time.Millisecond
	return []server{
		{name: "at-timeout", does: "sends one event just before the timeout", causes: []error{lw.ErrWatchClosed},
			serve: onWatch(func(c *call) {
				c.begin()
				c.sleep(c.timeout() - time.Nanosecond)
				c.news()
				c.sleep(time.Nanosecond)
			})},
		{name: "999ms", does: "closes each watch after 999 ms", causes: []error{lw.ErrWatchClosed}, serve: onWatch(func(c *call) { c.begin(); c.sleep(pause) })},
		{name: "999ms-reset", does: "resets each watch after 999 ms", causes: []error{errReset},
			serve: onWatch(func(c *call) { c.begin(); c.sleep(pause); c.fail(errReset) })},
		{name: "999ms-event", does: "sends one event after 999 ms in each watch and then closes the watch", serve: onWatch(func(c *call) { c.begin(); c.sleep(pause); c.news() })},
		{name: "one-event", does: "closes each watch after one event", serve: onWatch(func(c *call) { c.news() })},
		{name: "one-event-reset", does: "resets the connection of each watch after one event", causes: []error{errReset},
			serve: onWatch(func(c *call) { c.news(); c.fail(errReset) })},
		{name: "one-event-opaque", does: "closes each watch after one event with an opaque resourceVersion",
			version: func(n int) string { return fmt.Sprintf("etag-%x", n*7919) }, serve: onWatch(func(c *call) { c.news() })},
		{name: "one-event-equal", does: "closes each watch after repeating the event at the requested resourceVersion",
			serve: onWatch(func(c *call) {
				changes, _, _ := c.since(c.from() - 1)
				c.write(c.event(changes[0]))
			})},
		{name: "half-event", does: "closes each watch in the middle of its second event", causes: []error{io.ErrUnexpectedEOF},
			serve: onWatch(func(c *call) { c.news(); c.write(`{"type":"ADDED","object":{"kind":"Conf`) })},
		{name: "instant", does: "closes each watch immediately", causes: []error{lw.ErrWatchClosed, lw.ErrExpired}, serve: onWatch((*call).begin)},
		{name: "white-space", does: "sends nothing but one byte of white space every 30 seconds", causes: []error{lw.ErrSilent},
			serve: onWatch(func(c *call) {
				for ; ; c.sleep(30 * time.Second) {
					c.write(" ")
				}
			})},
		{name: "slow-bytes", does: "sends events at one byte per second", slow: true,
			serve: rewritten(func(c *call, _ change, event string) string { return c.drip(event, time.Second) })},
		{name: "endless-object", does: "sends an endless object at 10 kB per second",
			serve: onWatch(func(c *call) {
				c.write(`{"type":"ADDED","object":{"data":"`)
				for text := strings.Repeat("x", 10_000); !c.honest.Load(); c.sleep(time.Second) {
					c.write(text)
				}
				c.fail(errReset)
			})},
		{name: "blank-object", does: "sends the start of an object and then one byte of white space per second", causes: []error{lw.ErrSilent},
			serve: onWatch(func(c *call) {
				for c.write(`{"type":"ADDED","object":{`); ; c.sleep(time.Second) {
					c.write(" ")
				}
			})},
		{name: "no-newlines", does: "sends events without newlines between them",
			serve: rewritten(func(_ *call, _ change, event string) string { return strings.TrimSpace(event) })},
		{name: "bookmark-then-silent", does: "sends one bookmark and then nothing", causes: []error{lw.ErrSilent},
			serve: onWatch(func(c *call) { c.write(bookmark(c.version(c.from()), false)); c.hang() })},
		{name: "one-bookmark", does: "closes each watch after a bookmark with the requested resourceVersion", causes: []error{lw.ErrWatchClosed},
			serve: onWatch(func(c *call) { c.write(bookmark(c.q.Get("resourceVersion"), false)) })},
	}
}
