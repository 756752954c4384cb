package hostile

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

func wrongStreamingLists() []Scenario {
	return []Scenario{
		{Name: "no-mark", Does: "never sends the initial-events-end bookmark", serve: onStream(func(c *call) {
			at := c.now()
			c.initial(at)
			c.follow(at)
		})},
		{Name: "mark-first", Does: "sends the initial-events-end bookmark before the objects", serve: onStream(func(c *call) {
			at := c.now()
			c.write(Bookmark(c.version(at), "true"))
			c.initial(at)
			c.follow(at)
		}), Lies: true},
		{Name: "mark-back", Does: "sends an initial-events-end bookmark that is older than the objects", serve: onStream(func(c *call) {
			at := c.now()
			c.initial(at)
			c.write(Bookmark(c.version(1003), "true"))
			c.follow(at)
		}), Lies: true},
		{Name: "mark-repeated", Does: "sends every bookmark as an initial-events-end bookmark", serve: onStream(func(c *call) {
			at := c.now()
			c.initial(at)
			c.write(Bookmark(c.version(at), "true"), Bookmark(c.version(at), "true"))
			c.feed(at, 5*time.Second, func(now int) { c.write(Bookmark(c.version(now), "true")) })
		})},
		{Name: "mark-without-version", Does: "sends an initial-events-end bookmark without a resourceVersion", serve: onStream(func(c *call) {
			at := c.now()
			c.initial(at)
			c.write(strings.Replace(Bookmark("x", "true"), `"resourceVersion":"x",`, "", 1))
			c.follow(at)
		}), Lies: true},
		{Name: "closed-before-mark", Does: "closes each streaming list halfway through", serve: onStream(func(c *call) {
			c.initial(c.now())
		})},
		{Name: "slow-stream", Does: "sends streaming lists at one byte per second", slow: true, serve: onStream(func(c *call) {
			at := c.now()
			for _, item := range c.items(at) {
				c.write(c.drip(frame("ADDED", item), time.Second))
			}
			c.write(Bookmark(c.version(at), "true"))
			c.follow(at)
		})},
		{Name: "empty-stream", Does: "closes each streaming list immediately", serve: onStream((*call).begin)},
		{Name: "error-in-list", Does: "sends an ERROR event with code 410 halfway through each streaming list, then continues the list", serve: onStream(func(c *call) {
			items := c.items(c.now())
			c.write(frame("ADDED", items[0]), failed(410, "Expired", "expired"), frame("ADDED", items[1]), Bookmark(c.version(c.now()), "true"))
		})},
		{Name: "closed-at-mark", Does: "closes each streaming list after its initial-events-end bookmark and rejects all watches with 410", serve: func(c *call) {
			if c.watch && !c.streaming() {
				c.reject(410, "", Status(410, "Gone", "gone", ""))
			}
			at := c.now()
			if c.watch {
				c.initial(at)
				c.write(Bookmark(c.version(at), "true"))
				return
			}
			c.list()
		}},
		{Name: "deletes-in-list", Does: "adds, deletes and modifies objects during a streaming list", serve: onStream(func(c *call) {
			at := c.now()
			items := c.items(at)
			for _, item := range items {
				c.write(frame("ADDED", item), frame("DELETED", item), frame("MODIFIED", item))
			}
			c.write(Bookmark(c.version(at), "true"))
			c.follow(at)
		})},
	}
}
