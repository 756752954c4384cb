package servers

import (
	"strings"
	"time"
)

// onStream returns a handler that passes streaming lists to serve. Its watches are correct for 20 seconds and then
// expire.
func onStream(serve func(c *call)) func(c *call) {
	return func(c *call) {
		switch {
		case c.streaming():
			serve(c)
		case c.watch:
			onList(nil)(c)
		default:
			c.list()
		}
	}
}

func wrongStreamingLists() []server {
	return []server{
		{name: "no-mark", does: "never sends the initial-events-end bookmark", serve: onStream(func(c *call) {
			at := c.now()
			c.initial(at)
			c.follow(at)
		})},
		{name: "mark-first", does: "sends the initial-events-end bookmark before the objects", serve: onStream(func(c *call) {
			at := c.now()
			c.write(bookmark(c.version(at), true))
			c.initial(at)
			c.follow(at)
		}), lies: true},
		{name: "mark-back", does: "sends an initial-events-end bookmark that is older than the objects", serve: onStream(func(c *call) {
			at := c.now()
			c.initial(at)
			c.write(bookmark(c.version(1003), true))
			c.follow(at)
		}), lies: true},
		{name: "mark-repeated", does: "sends every bookmark as an initial-events-end bookmark", serve: onStream(func(c *call) {
			at := c.now()
			c.initial(at)
			c.write(bookmark(c.version(at), true), bookmark(c.version(at), true))
			c.feed(at, 5*time.Second, func(now int) { c.write(bookmark(c.version(now), true)) })
		})},
		{name: "mark-without-version", does: "sends an initial-events-end bookmark without a resourceVersion", serve: onStream(func(c *call) {
			at := c.now()
			c.initial(at)
			c.write(strings.Replace(bookmark("x", true), `"resourceVersion":"x",`, "", 1))
			c.follow(at)
		}), lies: true},
		{name: "closed-before-mark", does: "closes each streaming list halfway through", serve: onStream(func(c *call) {
			c.initial(c.now())
		})},
		{name: "slow-stream", does: "sends streaming lists at one byte per second", slow: true, serve: onStream(func(c *call) {
			at := c.now()
			for _, item := range c.items(at) {
				c.write(c.drip(frame("ADDED", item), time.Second))
			}
			c.write(bookmark(c.version(at), true))
			c.follow(at)
		})},
		{name: "empty-stream", does: "closes each streaming list immediately", serve: onStream((*call).begin)},
		{name: "error-in-list", does: "sends an ERROR event with code 410 halfway through each streaming list, then continues the list", serve: onStream(func(c *call) {
			items := c.items(c.now())
			c.write(frame("ADDED", items[0]), failed(410, "Expired", "expired"), frame("ADDED", items[1]), bookmark(c.version(c.now()), true))
		})},
		{name: "closed-at-mark", does: "closes each streaming list after its initial-events-end bookmark and rejects all watches with 410", serve: func(c *call) {
			if c.watch && !c.streaming() {
				c.reject(410, "", failure(410, "Gone", "gone"))
			}
			at := c.now()
			if c.watch {
				c.initial(at)
				c.write(bookmark(c.version(at), true))
				return
			}
			c.list()
		}},
		{name: "deletes-in-list", does: "adds, deletes and modifies objects during a streaming list", serve: onStream(func(c *call) {
			at := c.now()
			items := c.items(at)
			for _, item := range items {
				c.write(frame("ADDED", item), frame("DELETED", item), frame("MODIFIED", item))
			}
			c.write(bookmark(c.version(at), true))
			c.follow(at)
		})},
	}
}
