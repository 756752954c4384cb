package hostile

import (
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// freshToken is the Status for an expired continue token. It contains a new token. A client that continued with it
// would get an inconsistent list.
var freshToken = strings.Replace(Status(410, "Expired", "expired", ""), `"metadata":{}`, `"metadata":{"continue":"1024/3"}`, 1)

// interfering returns a handler that lets spoil answer each request. If spoil returns without an answer, the handler
// sends a single event for a watch, and a correct response for other requests.
func interfering(spoil func(c *call)) func(c *call) {
	return func(c *call) {
		spoil(c)
		if c.watch && !c.streaming() {
			c.news()
		} else {
			c.honestly()
		}
	}
}

func hostileErrorResponses() []Scenario {
	return []Scenario{
		{Name: "410-events", Does: "sends an ERROR event with code 410 in each watch", Causes: []error{lw.ErrExpired},
			serve: onWatch(func(c *call) { c.write(failed(410, "Expired", "too old resource version")) })},
		{Name: "410-http", Does: "rejects each watch with HTTP 410 and a fresh continue token", Causes: []error{lw.ErrExpired},
			serve: onWatch(func(c *call) { c.reject(410, "", freshToken) })},
		{Name: "410-alternating", Does: "alternates between rejecting a watch with 410 and sending one event", Causes: []error{lw.ErrExpired},
			serve: onWatch(func(c *call) {
				if c.nth%2 == 0 {
					c.reject(410, "", freshToken)
				}
				c.news()
			})},
		{Name: "410-success", Does: "sends ERROR events with a success Status and codes such as 410 and 200",
			serve: onWatch(func(c *call) {
				code := []int{410, 200, 0, -1}[c.nth%4]
				c.write(strings.Replace(failed(code, "", ""), "Failure", "Success", 1))
			})},
		{Name: "after-error", Does: "continues a watch after an ERROR event",
			serve: onWatch(func(c *call) { c.write(failed(500, "InternalError", "oops")); c.follow(c.from()) })},
		{Name: "strange-errors", Does: "sends malformed ERROR events and unknown event types",
			serve: onWatch(func(c *call) {
				strange := []string{`{"type":"ERROR","object":null}`, `{"type":"ERROR","object":"no"}`, `{"type":"ERROR"}`, `{"type":"RENAMED","object":{}}`,
					`{}`, `null`, `[]`, `{"type":7,"object":{}}`, `{"type":"ADDED"}`, `{"type":"ADDED","object":null}`, `{"type":"BOOKMARK","object":{}}`}
				c.write(strange[c.nth%len(strange)] + "\n")
			})},
		{Name: "404-watches", Does: "rejects each watch with 404", Causes: []error{lw.ErrNotFound},
			serve: onWatch(func(c *call) { c.reject(404, "", "404 page not found\n") })},
		{Name: "401-flapping", Does: "rejects every other request with 401 or 403", Causes: []error{lw.ErrUnauthorized, lw.ErrForbidden},
			serve: interfering(func(c *call) {
				if c.nth%2 == 1 {
					c.reject([]int{401, 403}[c.nth/2%2], "", Status(401, "Unauthorized", "Unauthorized", ""))
				}
			})},
		{Name: "503-storm", Does: "rejects five watches in a row with 503 and sends one event in the sixth watch",
			serve: onWatch(func(c *call) {
				if c.nth%6 != 0 {
					c.reject(503, "", "<html>upstream connect error</html>")
				}
				c.news()
			})},
		{Name: "retry-after", Does: "rejects two of every three requests with 429 and an invalid or extreme Retry-After", Causes: []error{lw.ErrTooManyRequests},
			serve: interfering(func(c *call) {
				after := []string{"0", "-1", "1000000000", "soon", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "1e3",
					"99999999999999999999", "", "0.5", " 3", "9223372036854775807", "18446744073709551615"}
				if c.nth%3 != 0 {
					c.reject(429, after[c.nth%len(after)], "Too many requests, please try again later.\n")
				}
			})},
		{Name: "429-quick", Does: "rejects every request with 429 and a Retry-After of 0 seconds", Causes: []error{lw.ErrTooManyRequests},
			serve: func(c *call) { c.reject(429, "0", "") }},
		{Name: "every-third", Does: "resets the connection of two in three requests", Causes: []error{errReset},
			serve: func(c *call) {
				if (c.watches.Load()+c.listed.Load())%3 != 0 {
					c.abort()
				}
				c.honestly()
			}},
		{Name: "mute", Does: "leaves every other list and watch request unanswered", Causes: []error{lw.ErrSilent},
			serve: interfering(func(c *call) {
				if c.nth%2 == 1 {
					c.hang()
				}
			})},
		{Name: "mute-watches", Does: "serves lists but never responds to a watch", Causes: []error{lw.ErrSilent}, serve: onWatch((*call).hang)},
		{Name: "mute-all", Does: "never responds", Causes: []error{lw.ErrSilent}, serve: (*call).hang},
		{Name: "list-for-watch", Does: "ignores watch=1 and sends a list",
			serve: onWatch(func(c *call) { c.list() })},
		{Name: "html-for-all", Does: "responds to every request with 200 and an HTML page",
			serve: func(c *call) { c.write("<!doctype html><title>Log in</title>"); c.sleep(time.Millisecond) }},
	}
}
