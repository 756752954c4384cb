package hostile

import (
	"io"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

func correctServers() []Scenario {
	return sourced(detection, []Scenario{
		{Name: "streaming", Does: "responds correctly, with streaming lists", serve: correct},
		{Name: "listing", Does: "responds correctly, with paginated lists", serve: correct, Lists: true},
	})
}

// modified returns a MODIFIED event that gives the first object this resourceVersion.
func modified(version string) string {
	return frame("MODIFIED", Object(namespace, "cm-0001", uid("", "cm-0001"), version, "", "1"))
}

// The steps of these scenarios are documented in steps.go and honest.go. The documentation of Scenario explains when to
// set Lies or Restart.

func wrongWatches() []Scenario {
	return sourced(detection, []Scenario{
		{Name: "replay", Does: "replays the whole history in every watch",
			serve: watches(func(c *call) { c.from = firstRevision }, follow)},
		{Name: "bookmarks-back", Does: "sends bookmarks with decreasing resourceVersions", Source: bookmarks,
			serve: watches(every(20*time.Second, bookmark(-5)))},
		{Name: "bookmarks-ahead", Does: "sends bookmarks with future resourceVersions and then older events", Source: bookmarks, Lies: true, Restart: true,
			serve: watches(every(15*time.Second, bookmark(1e6)))},
		{Name: "foreign", Does: "sends events for another kind and another namespace", Lies: true,
			serve: watches(every(10*time.Second, func(c *call) {
				c.write(strings.NewReplacer(`"ConfigMap"`, `"Secret"`, `"shop"`, `"kube-system"`).Replace(frame("ADDED", c.object("cm-x", c.sent, c.sent))))
			}))},
		{Name: "ghosts", Does: "deletes objects that never existed",
			serve: watches(every(7*time.Second, func(c *call) { c.write(frame("DELETED", c.object("ghost", c.sent, c.sent))) }))},
		{Name: "two-uids", Does: "adds one object twice, with different UIDs, again and again", Lies: true,
			serve: watches(every(7*time.Second, func(c *call) {
				item := c.object("cm-0001", c.sent, c.sent)
				c.write(frame("ADDED", item), frame("ADDED", strings.Replace(item, "u-", "v-", 1))) // every UID starts with u-
			}))},
		{Name: "skips", Does: "silently omits every other event", Lies: true,
			serve: watches(edited(func(c *call, event string) string {
				if c.from%2 == 0 {
					return event
				}
				return ""
			}), follow)},
		{Name: "odd-versions", Does: "sends events with malformed resourceVersions such as 00, -5 and 1e9", Source: versions, Lies: true,
			serve: watches(send(modified(nth), "00", "-5", " 17 ", "1e9", "+7", "99999999999999999999999", "0x7f", "007", `\t`), pause(3*time.Second))},
		// A client that resumes from 0 receives the current objects and never learns of the deletion.
		{Name: "version-zero", Does: "ends each watch after 21 seconds with a bookmark at resourceVersion 0 and then deletes an object", Source: versions, Lies: true,
			serve: watches(every(21*time.Second, send(Bookmark("0", "")), func(c *call) { c.remove() }, stop))},
		{Name: "no-version", Does: "closes each watch after one event without a resourceVersion", Source: versions, Lies: true,
			serve: watches(replace(`,"resourceVersion":"1"`, ""), send(modified("1")))},
		{Name: "number-version", Does: "sends resourceVersions as JSON numbers", Source: versions,
			serve: watches(replace(`"resourceVersion":"(\d+)"`, `"resourceVersion":$1`), follow)},
		{Name: "two-versions", Does: "sends objects with a wrong and then the correct resourceVersion", Source: rfcJSON,
			serve: watches(replace(`"resourceVersion"`, `"resourceVersion":"7","resourceVersion"`), follow)},
		// The streaming list comes from the lagging replica, too. It ends after 20 seconds, so that the client resumes with a
		// watch of the other replica.
		{Name: "two-replicas", Does: "serves lists from a replica that lags by ten changes, and watches from an up-to-date replica", Source: issues + "59848",
			serve: answer(follow, func(c *call) { c.whole(c.now() - 10) }, do(func(c *call) { c.from -= 10 }, initial, mark, pause(20*time.Second)))},
	})
}

func shortWatches() []Scenario {
	const almostOne = 999 * time.Millisecond // clients count a watch without events as healthy after one second
	return sourced(detection, []Scenario{
		{Name: "at-timeout", Does: "sends one event just before the timeout", Causes: []error{lw.ErrWatchClosed},
			serve: watches(begin, func(c *call) { c.sleep(c.timeout() - time.Nanosecond) }, news, pause(time.Nanosecond))},
		// Some servers close watches instead of reporting an expired resourceVersion. So the client must treat it as expired
		// after several short watches in a row.
		{Name: "999ms", Does: "closes each watch after 999 ms", Source: "https://github.com/openshift/origin/issues/22751", Causes: []error{lw.ErrWatchClosed, lw.ErrExpired}, serve: watches(begin, pause(almostOne))},
		{Name: "999ms-reset", Does: "resets each watch after 999 ms", Causes: []error{errReset}, serve: watches(begin, pause(almostOne), abort)},
		{Name: "999ms-event", Does: "sends one event after 999 ms in each watch and then closes the watch", serve: watches(begin, pause(almostOne), news)},
		{Name: "one-event", Does: "closes each watch after one event", serve: watches(news)},
		{Name: "one-event-reset", Does: "resets the connection of each watch after one event", Causes: []error{errReset}, serve: watches(news, abort)},
		{Name: "one-event-opaque", Does: "closes each watch after one event with an opaque resourceVersion", Source: versions, format: format{versions: "etag-%x"}, serve: watches(news)},
		{Name: "one-event-equal", Does: "closes each watch after repeating the event at the requested resourceVersion",
			serve: watches(func(c *call) { c.from-- }, news)},
		{Name: "half-event", Does: "closes each watch in the middle of its second event", Causes: []error{io.ErrUnexpectedEOF},
			serve: watches(news, send(`{"type":"ADDED","object":{"kind":"Conf`))},
		{Name: "instant", Does: "closes each watch immediately", Source: "https://github.com/openshift/origin/issues/22751", Causes: []error{lw.ErrWatchClosed, lw.ErrExpired}, serve: watches(begin)},
		{Name: "white-space", Does: "sends nothing but one byte of white space every 30 seconds", Source: issues + "65012", Causes: []error{lw.ErrSilent},
			serve: watches(repeat(30*time.Second, send(" ")))},
		{Name: "slow-bytes", Does: "sends events at one byte per second", slow: true, serve: watches(edited(drip), follow)},
		// After [Server.Behave] is called, repeat returns and abort breaks the connection. Otherwise the client would wait
		// forever for the end of the object.
		{Name: "endless-object", Does: "sends an endless object at 10 kB per second",
			serve: watches(send(`{"type":"ADDED","object":{"data":"`), repeat(time.Second, send(strings.Repeat("x", 10_000))), abort)},
		{Name: "flood", Does: "sends an object of 400 MiB as fast as the client reads it",
			serve: watches(send(`{"type":"ADDED","object":{"data":"`), flood, abort)},
		{Name: "blank-object", Does: "sends the start of an object and then one byte of white space per second", Causes: []error{lw.ErrSilent},
			serve: watches(send(`{"type":"ADDED","object":{`), repeat(time.Second, send(" ")))},
		{Name: "no-newlines", Does: "sends events without newlines between them", Source: rfcJSON, serve: watches(replace("\n", ""), follow)},
		{Name: "bookmark-then-silent", Does: "sends one bookmark and then nothing", Source: bookmarks, Causes: []error{lw.ErrSilent}, serve: watches(repeatVersion, hang)},
		{Name: "one-bookmark", Does: "closes each watch after a bookmark with the requested resourceVersion", Source: bookmarks, Causes: []error{lw.ErrWatchClosed},
			serve: watches(repeatVersion)},
	})
}
