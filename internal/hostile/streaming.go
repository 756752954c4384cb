package hostile

import "time"

func wrongStreamingLists() []Scenario {
	return sourced(streaming, []Scenario{
		{Name: "no-mark", Does: "never sends the initial-events-end bookmark", Source: issues + "135895", serve: streams(initial, follow)},
		{Name: "mark-first", Does: "sends the initial-events-end bookmark before the objects", Lies: true, serve: streams(mark, initial, follow)},
		{Name: "mark-back", Does: "sends an initial-events-end bookmark that is older than the objects", Lies: true,
			serve: streams(initial, send(Bookmark("1003", "true")), follow)},
		{Name: "mark-repeated", Does: "sends every bookmark as an initial-events-end bookmark", serve: streams(initial, mark, mark, every(5*time.Second, mark))},
		{Name: "mark-without-version", Does: "sends an initial-events-end bookmark without a resourceVersion", Lies: true,
			serve: streams(initial, replace(`"resourceVersion":"\d+",`, ""), mark, edited(nil), follow)},
		{Name: "closed-before-mark", Does: "closes each streaming list halfway through", Source: issues + "140890", serve: streams(initial)},
		{Name: "slow-stream", Does: "sends streaming lists at one byte per second", slow: true, serve: streams(edited(drip), initial, edited(nil), mark, follow)},
		{Name: "empty-stream", Does: "closes each streaming list immediately", Source: issues + "140890", serve: streams(begin)},
		{Name: "error-in-list", Does: "sends an ERROR event with code 410 halfway through each streaming list, then continues the list",
			serve: streams(func(c *call) {
				items := c.items(c.at(c.from))
				c.write(frame("ADDED", items[0]), failed(410, "Expired", "expired"), frame("ADDED", items[1]))
			}, mark)},
		{Name: "closed-at-mark", Does: "closes each streaming list after its initial-events-end bookmark and rejects all watches with 410",
			serve: answer(reject(410, Status(410, "Gone", "gone", "")), list, do(initial, mark))},
		{Name: "deletes-in-list", Does: "adds, deletes and modifies objects during a streaming list",
			serve: streams(func(c *call) {
				for _, item := range c.items(c.at(c.from)) {
					c.write(frame("ADDED", item), frame("DELETED", item), frame("MODIFIED", item))
				}
			}, mark, follow)},
	})
}
