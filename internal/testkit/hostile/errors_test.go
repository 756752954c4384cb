package hostile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

func TestErrorEventsAndStatuses(t *testing.T) { play(t, errorEventsAndStatuses()) }

func errorEventsAndStatuses() []server {
	fresh := strings.Replace(failure(410, "Expired", "expired"), `"metadata":{}`, `"metadata":{"continue":"1005/3"}`, 1)
	return []server{
		{name: "410-events", does: "answers each watch with an ERROR event 410", causes: []error{lw.ErrExpired},
			serve: onWatch(func(c *call) { c.write(failed(410, "Expired", "too old resource version")) })},
		{name: "410-http", does: "answers each watch with HTTP 410 and a fresh continue token", causes: []error{lw.ErrExpired},
			serve: onWatch(func(c *call) { c.refuse(410, "", fresh) })},
		{name: "410-alternating", does: "answers each second watch with 410, and others with one event", causes: []error{lw.ErrExpired},
			serve: onWatch(func(c *call) {
				if c.nth%2 == 0 {
					c.refuse(410, "", fresh)
				}
				c.news()
			})},
		{name: "410-success", does: "sends ERROR events whose Status is a success of code 410, or of code 200",
			serve: onWatch(func(c *call) {
				code := []int{410, 200, 0, -1}[c.nth%4]
				c.write(strings.Replace(failed(code, "", ""), "Failure", "Success", 1))
			})},
		{name: "after-error", does: "goes on with events after an ERROR event",
			serve: onWatch(func(c *call) { c.write(failed(500, "InternalError", "oops")); c.follow(c.from()) })},
		{name: "strange-errors", does: "sends ERROR events and types that are none of the protocol's",
			serve: onWatch(func(c *call) {
				strange := []string{`{"type":"ERROR","object":null}`, `{"type":"ERROR","object":"no"}`, `{"type":"ERROR"}`, `{"type":"RENAMED","object":{}}`,
					`{}`, `null`, `[]`, `{"type":7,"object":{}}`, `{"type":"ADDED"}`, `{"type":"ADDED","object":null}`, `{"type":"BOOKMARK","object":{}}`}
				c.write(strange[c.nth%len(strange)] + "\n")
			})},
		{name: "404-watches", does: "answers each watch with 404", causes: []error{lw.ErrNotFound},
			serve: onWatch(func(c *call) { c.refuse(404, "", "404 page not found\n") })},
		{name: "401-flapping", does: "answers each second request with 401 or 403", causes: []error{lw.ErrUnauthorized, lw.ErrForbidden},
			serve: func(c *call) {
				if c.nth%2 == 1 {
					c.refuse([]int{401, 403}[c.nth/2%2], "", failure(401, "Unauthorized", "Unauthorized"))
				}
				if c.watch && !c.streaming() {
					c.news()
					return
				}
				c.honestly()
			}},
		{name: "503-storm", does: "answers five watches with 503, and the sixth with one event",
			serve: onWatch(func(c *call) {
				if c.nth%6 != 0 {
					c.refuse(503, "", "<html>upstream connect error</html>")
				}
				c.news()
			})},
		{name: "retry-after", does: "answers 429 with strange times in Retry-After, and each third request well", causes: []error{lw.ErrTooManyRequests},
			serve: func(c *call) {
				after := []string{"0", "-1", "1000000000", "soon", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "1e3",
					"99999999999999999999", "", "0.5", " 3", "9223372036854775807", "18446744073709551615"}
				if c.nth%3 != 0 {
					c.refuse(429, after[c.nth%len(after)], "Too many requests, please try again later.\n")
				}
				if c.watch && !c.streaming() {
					c.news()
					return
				}
				c.honestly()
			}},
		{name: "429-quick", does: "answers all with 429 and Retry-After of 0 seconds", causes: []error{lw.ErrTooManyRequests},
			serve: func(c *call) { c.refuse(429, "0", "") }},
		{name: "every-third", does: "is healthy on each third connection only", causes: []error{errReset},
			serve: func(c *call) {
				if (c.watches.Load()+c.lists.Load())%3 != 0 {
					c.fail(errReset)
				}
				c.honestly()
			}},
		{name: "mute", does: "accepts, and never answers, every second list and watch", causes: []error{lw.ErrSilent},
			serve: func(c *call) {
				if c.nth%2 == 1 {
					c.never()
				}
				if c.watch && !c.streaming() {
					c.news()
					return
				}
				c.honestly()
			}},
		{name: "mute-watches", does: "lists well, and never answers a watch", causes: []error{lw.ErrSilent}, serve: onWatch((*call).never)},
		{name: "mute-all", does: "never answers", causes: []error{lw.ErrSilent}, serve: (*call).never},
		{name: "list-for-watch", does: "ignores watch=1, and answers a watch with a list",
			serve: onWatch(func(c *call) { c.list() })},
		{name: "html-for-all", does: "answers all with 200 and a page of HTML",
			serve: func(c *call) { c.write("<!doctype html><title>Log in</title>"); c.sleep(time.Millisecond) }},
	}
}
