package hostile

import (
	"strings"
	"time"
)

// onStream returns a handler that lets serve answer streaming lists. Its watches are correct for 20 seconds and then
// expire, so that the client lists again.
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

// onInitial returns a handler that passes streaming lists and their revision to serve, and then continues them as
// correct watches.
func onInitial(serve func(c *call, at int)) func(c *call) {
	return onStream(func(c *call) {
		at := c.now()
		serve(c, at)
		c.follow(at)
	})
}

func wrongStreamingLists() []Scenario {
	return []Scenario{
		{Name: "no-mark", Does: "never sends the initial-events-end bookmark", serve: onInitial((*call).initial)},
		{Name: "mark-first", Does: "sends the initial-events-end bookmark before the objects", serve: onInitial(func(c *call, at int) {
			c.write(Bookmark(c.version(at), "true"))
			c.initial(at)
		}), Lies: true},
		{Name: "mark-back", Does: "sends an initial-events-end bookmark that is older than the objects", serve: onInitial(func(c *call, at int) {
			c.initial(at)
			c.write(Bookmark(c.version(1003), "true"))
		}), Lies: true},
		{Name: "mark-repeated", Does: "sends every bookmark as an initial-events-end bookmark", serve: onStream(func(c *call) {
			at := c.now()
			c.initial(at)
			c.write(Bookmark(c.version(at), "true"), Bookmark(c.version(at), "true"))
			c.feed(at, 5*time.Second, func(now int) { c.write(Bookmark(c.version(now), "true")) })
		})},
		{Name: "mark-without-version", Does: "sends an initial-events-end bookmark without a resourceVersion", serve: onInitial(func(c *call, at int) {
			c.initial(at)
			c.write(strings.Replace(Bookmark("x", "true"), `"resourceVersion":"x",`, "", 1))
		}), Lies: true},
		{Name: "closed-before-mark", Does: "closes each streaming list halfway through", serve: onStream(func(c *call) {
			c.initial(c.now())
		})},
		{Name: "slow-stream", Does: "sends streaming lists at one byte per second", slow: true, serve: onInitial(func(c *call, at int) {
			for _, item := range c.items(at) {
				c.write(c.drip(frame("ADDED", item), time.Second))
			}
			c.write(Bookmark(c.version(at), "true"))
		})},
		{Name: "empty-stream", Does: "closes each streaming list immediately", serve: onStream((*call).begin)},
		{Name: "error-in-list", Does: "sends an ERROR event with code 410 halfway through each streaming list, then continues the list", serve: onStream(func(c *call) {
			items := c.items(c.now())
			c.write(frame("ADDED", items[0]), failed(410, "Expired", "expired"), frame("ADDED", items[1]), Bookmark(c.version(c.now()), "true"))
		})},
		{Name: "closed-at-mark", Does: "closes each streaming list after its initial-events-end bookmark and rejects all watches with 410", serve: func(c *call) {
			switch at := c.now(); {
			case c.streaming():
				c.initial(at)
				c.write(Bookmark(c.version(at), "true"))
			case c.watch:
				c.reject(410, "", Status(410, "Gone", "gone", ""))
			default:
				c.list()
			}
		}},
		{Name: "deletes-in-list", Does: "adds, deletes and modifies objects during a streaming list", serve: onInitial(func(c *call, at int) {
			for _, item := range c.items(at) {
				c.write(frame("ADDED", item), frame("DELETED", item), frame("MODIFIED", item))
			}
			c.write(Bookmark(c.version(at), "true"))
		})},
	}
}
