package hostile

import (
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

func unusualServers() []Scenario {
	escapes := strings.NewReplacer("\n", "\r\n", `"type":"ADDED"`, `"t\u0079pe":"\u0041\u0044\u0044\u0045\u0044"`,
		`"type":"MODIFIED"`, `"t\u0079pe":"\u004d\u004f\u0044\u0049\u0046\u0049\u0045\u0044"`, `"type":"DELETED"`, `"t\u0079pe":"\u0044\u0045\u004c\u0045\u0054\u0045\u0044"`)
	return sourced(detection, []Scenario{
		{Name: "type-last", Does: "writes an event's type after its object", Source: rfcJSON, serve: watches(replace(`^{("type":"\w+"),(.*)}\n`, "{$2,$1}\n"), follow)},
		{Name: "escaped", Does: "escapes event types and field names, and ends lines with CRLF", Source: rfcJSON,
			serve: watches(edited(func(_ *call, event string) string { return escapes.Replace(event) }), follow)},
		{Name: "deleted-old-version", Does: "sends deletions at the object's previous resourceVersion", Lies: true,
			serve: watches(replace(`^({"type":"DELETED".*"resourceVersion":)"\d+"(.*"v":("\d+"))`, "$1$3$2"), follow)},
		{Name: "nameless", Does: "sends an object without a name or metadata after each event", Lies: true,
			serve: watches(replace(`.*"resourceVersion":"(\d+)".*\n`, "${0}"+nth+"\n", `{"type":"ADDED","object":{"metadata":{"resourceVersion":"$1"}}}`,
				`{"type":"ADDED","object":{"metadata":{"name":"","resourceVersion":"$1"}}}`, `{"type":"ADDED","object":{"metadata":null,"x":$1}}`,
				`{"type":"ADDED","object":{"x":$1}}`, `{"type":"DELETED","object":{"metadata":{"name":null,"resourceVersion":"$1"}}}`), follow)},
		{Name: "items-first", Does: "writes a list's items before its metadata", Source: rfcJSON, Lists: true,
			serve: lists(func(c *call) {
				p := c.page()
				c.write(MetadataLast(c.version(p.at), p.next, p.items))
			})},
		{Name: "lagging-lists", Does: "responds to every list with the state from 30 changes ago, whatever resourceVersion is requested", Source: issues + "59848", Lists: true,
			serve: lists(func(c *call) { c.whole(max(c.now()-30, 1024)) })},
		{Name: "error-429", Does: "ends each watch with a 429 ERROR event that has an extreme retry delay", Causes: []error{lw.ErrTooManyRequests},
			serve: watches(news, send(Event("ERROR", Status(429, "TooManyRequests", "slow down", `,"details":{"retryAfterSeconds":`+nth+`}`)),
				"1000000000", "-5", "0", `"soon"`, "1e3", "9223372036854775807"))},
		{Name: "410-pages", Does: "rejects the later pages of each list with 410 and a fresh continue token", Source: "https://github.com/kubernetes/kubernetes/pull/67284", Lists: true, Causes: []error{lw.ErrExpired},
			serve: lists(later(reject(410, freshToken)), list)},
		{Name: "too-large", Does: "rejects lists that request a resourceVersion with 504 (too large), and all watches with 410", Source: issues + "91073", Lists: true, Causes: []error{lw.ErrResourceVersionTooLarge},
			serve: answer(reject(410, gone), func(c *call) {
				if v := c.q.Get("resourceVersion"); v != "" && v != "0" {
					c.reject(504, "1", tooLarge)
				}
				list(c)
			}, correct)},
		{Name: "same-token", Does: "sends a continue token that returns the same page again", Source: "https://github.com/kube-rs/kube/pull/1250", Lies: true, Lists: true, Causes: []error{lw.ErrInconsistent},
			serve: lists(replace(`"continue":"[^"]+"`, `"continue":"1024/7"`), list)},
		{Name: "flapping-versions", Does: "ends watches after one event, and alternates between two histories in its lists", Source: issues + "107457", Lies: true, Restart: true, Lists: true,
			serve: answer(do(news, send(expired)), func(c *call) {
				at := c.now()
				c.write(List(c.version(at+c.nth%2*100000), "", c.items(c.at(at))))
			}, correct)},
		{Name: "bookmarks-forever", Does: "ignores the requested timeout and repeats the same bookmark every 30 seconds", Source: bookmarks, Lies: true,
			serve: watches(repeat(30*time.Second, repeatVersion))},
	})
}
