package hostile

import (
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

var (
	gone    = Status(410, "Expired", "expired", "")
	expired = failed(410, "Expired", "too old resource version")

	// freshToken is the Status for an expired continue token. Like kube-apiserver's, it contains a new token, which
	// continues the list at a later resourceVersion. A client that uses the new token gets an inconsistent list.
	freshToken = strings.Replace(gone, `"metadata":{}`, `"metadata":{"continue":"1024/3"}`, 1)
)

const login = "<!doctype html><title>Log in</title>"

func hostileErrorResponses() []Scenario {
	unauthorized := Status(401, "Unauthorized", "Unauthorized", "")
	overloaded := reject(503, "<html>upstream connect error</html>")
	busy := reject(429, "Too many requests, please try again later.\n", "0", "-1", "1000000000", "soon", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "1e3",
		"99999999999999999999", "", "0.5", " 3", "9223372036854775807", "18446744073709551615")
	return sourced(detection, []Scenario{
		{Name: "410-events", Does: "sends an ERROR event with code 410 in each watch", Causes: []error{lw.ErrExpired}, serve: watches(send(expired))},
		{Name: "410-http", Does: "rejects each watch with HTTP 410 and a fresh continue token", Causes: []error{lw.ErrExpired}, serve: watches(reject(410, freshToken))},
		{Name: "410-alternating", Does: "alternates between rejecting a watch with 410 and sending one event", Causes: []error{lw.ErrExpired},
			serve: watches(turns(reject(410, freshToken), news))},
		{Name: "410-success", Does: "sends ERROR events with a success Status and codes such as 410 and 200",
			serve: watches(send(strings.NewReplacer("Failure", "Success", "410", nth).Replace(failed(410, "", "")), "410", "200", "0", "-1"))},
		{Name: "after-error", Does: "continues a watch after an ERROR event", serve: watches(send(failed(500, "InternalError", "oops")), follow)},
		{Name: "strange-errors", Does: "sends malformed ERROR events and unknown event types",
			serve: watches(send(nth+"\n", `{"type":"ERROR","object":null}`, `{"type":"ERROR","object":"no"}`, `{"type":"ERROR"}`, `{"type":"RENAMED","object":{}}`,
				`{}`, `null`, `[]`, `{"type":7,"object":{}}`, `{"type":"ADDED"}`, `{"type":"ADDED","object":null}`, `{"type":"BOOKMARK","object":{}}`))},
		{Name: "404-watches", Does: "rejects each watch with 404", Source: rfcHTTP + "#section-15.5.5", Causes: []error{lw.ErrNotFound}, serve: watches(reject(404, "404 page not found\n"))},
		{Name: "401-flapping", Does: "rejects every other request with 401 or 403", Source: rfcHTTP + "#section-15.5.2", Causes: []error{lw.ErrUnauthorized, lw.ErrForbidden},
			serve: turns(one, reject(401, unauthorized), one, reject(403, unauthorized))},
		{Name: "503-storm", Does: "rejects five watches in a row with 503 and sends one event in the sixth watch", Source: "https://github.com/kubernetes-client/csharp/issues/662",
			serve: watches(turns(news, overloaded, overloaded, overloaded, overloaded, overloaded))},
		{Name: "retry-after", Does: "rejects two of every three requests with 429 and an invalid or extreme Retry-After", Source: rfcHTTP + "#section-10.2.3", Causes: []error{lw.ErrTooManyRequests},
			serve: turns(one, busy, busy)},
		{Name: "429-quick", Does: "rejects every request with 429 and a Retry-After of 0 seconds", Source: rfcHTTP + "#section-10.2.3", Causes: []error{lw.ErrTooManyRequests}, serve: reject(429, "", "0")},
		{Name: "every-third", Does: "resets the connection of two in three requests", Causes: []error{errReset},
			serve: func(c *call) {
				if (c.watches.Load()+c.listed.Load())%3 != 0 { // counts lists and watches together, unlike turns
					abort(c)
				}
				correct(c)
			}},
		{Name: "mute", Does: "leaves every other list and watch request unanswered", Causes: []error{lw.ErrSilent}, serve: turns(one, hang)},
		{Name: "mute-watches", Does: "serves lists but never responds to a watch", Source: issues + "65012", Causes: []error{lw.ErrSilent}, serve: watches(hang)},
		{Name: "mute-all", Does: "never responds", Causes: []error{lw.ErrSilent}, serve: hang},
		{Name: "list-for-watch", Does: "ignores watch=1 and sends a list", serve: watches(list)},
		{Name: "html-for-all", Does: "responds to every request with 200 and an HTML page", Source: "https://github.com/kubernetes-client/csharp/issues/662", serve: do(send(login), pause(time.Millisecond))},
	})
}
