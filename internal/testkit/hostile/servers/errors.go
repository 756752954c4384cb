package servers

import (
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

func hostileErrorResponses() []server {
	fresh := strings.Replace(failure(410, "Expired", "expired"), `"metadata":{}`, `"metadata":{"continue":"1005/3"}`, 1)
	return []server{
		{name: "410-events", does: "sends an ERROR event with code 410 in each watch", causes: []error{lw.ErrExpired},
			serve: onWatch(func(c *call) { c.write(failed(410, "Expired", "too old resource version")) })},
		{name: "410-http", does: "rejects each watch with HTTP 410 and a fresh continue token", causes: []error{lw.ErrExpired},
			serve: onWatch(func(c *call) { c.reject(410, "", fresh) })},
		{name: "410-alternating", does: "alternates between rejecting a watch with 410 and sending one event", causes: []error{lw.ErrExpired},
			serve: onWatch(func(c *call) {
				if c.nth%2 == 0 {
					c.reject(410, "", fresh)
				}
				c.news()
			})},
		{name: "410-success", does: "sends ERROR events with a success Status and codes such as 410 and 200",
			serve: onWatch(func(c *call) {
				code := []int{410, 200, 0, -1}[c.nth%4]
				c.write(strings.Replace(failed(code, "", ""), "Failure", "Success", 1))
			})},
		{name: "after-error", does: "continues a watch after an ERROR event",
			serve: onWatch(func(c *call) { c.write(failed(500, "InternalError", "oops")); c.follow(c.from()) })},
		{name: "strange-errors", does: "sends malformed ERROR events and unknown event types",
			serve: onWatch(func(c *call) {
				strange := []string{`{"type":"ERROR","object":null}`, `{"type":"ERROR","object":"no"}`, `{"type":"ERROR"}`, `{"type":"RENAMED","object":{}}`,
					`{}`, `null`, `[]`, `{"type":7,"object":{}}`, `{"type":"ADDED"}`, `{"type":"ADDED","object":null}`, `{"type":"BOOKMARK","object":{}}`}
				c.write(strange[c.nth%len(strange)] + "\n")
			})},
		{name: "404-watches", does: "rejects each watch with 404", causes: []error{lw.ErrNotFound},
			serve: onWatch(func(c *call) { c.reject(404, "", "404 page not found\n") })},
		{name: "401-flapping", does: "rejects every other request with 401 or 403", causes: []error{lw.ErrUnauthorized, lw.ErrForbidden},
			serve: func(c *call) {
				if c.nth%2 == 1 {
					c.reject([]int{401, 403}[c.nth/2%2], "", failure(401, "Unauthorized", "Unauthorized"))
				}
				if c.watch && !c.streaming() {
					c.news()
					return
				}
				c.honestly()
			}},
		{name: "503-storm", does: "rejects five watches in a row with 503 and sends one event in the sixth watch",
			serve: onWatch(func(c *call) {
				if c.nth%6 != 0 {
					c.reject(503, "", "<html>upstream connect error</html>")
				}
				c.news()
			})},
		{name: "retry-after", does: "rejects two of every three requests with 429 and an invalid or extreme Retry-After", causes: []error{lw.ErrTooManyRequests},
			serve: func(c *call) {
				after := []string{"0", "-1", "1000000000", "soon", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "1e3",
					"99999999999999999999", "", "0.5", " 3", "9223372036854775807", "18446744073709551615"}
				if c.nth%3 != 0 {
					c.reject(429, after[c.nth%len(after)], "Too many requests, please try again later.\n")
				}
				if c.watch && !c.streaming() {
					c.news()
					return
				}
				c.honestly()
			}},
		{name: "429-quick", does: "rejects every request with 429 and a Retry-After of 0 seconds", causes: []error{lw.ErrTooManyRequests},
			serve: func(c *call) { c.reject(429, "0", "") }},
		{name: "every-third", does: "resets the connection of two in three requests", causes: []error{errReset},
			serve: func(c *call) {
				if (c.watches.Load()+c.lists.Load())%3 != 0 {
					c.fail(errReset)
				}
				c.honestly()
			}},
		{name: "mute", does: "leaves every other list and watch request unanswered", causes: []error{lw.ErrSilent},
			serve: func(c *call) {
				if c.nth%2 == 1 {
					c.hang()
				}
				if c.watch && !c.streaming() {
					c.news()
					return
				}
				c.honestly()
			}},
		{name: "mute-watches", does: "serves lists but never responds to a watch", causes: []error{lw.ErrSilent}, serve: onWatch((*call).hang)},
		{name: "mute-all", does: "never responds", causes: []error{lw.ErrSilent}, serve: (*call).hang},
		{name: "list-for-watch", does: "ignores watch=1 and sends a list",
			serve: onWatch(func(c *call) { c.list() })},
		{name: "html-for-all", does: "responds to every request with 200 and an HTML page",
			serve: func(c *call) { c.write("<!doctype html><title>Log in</title>"); c.sleep(time.Millisecond) }},
	}
}
