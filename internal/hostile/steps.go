package hostile

import (
	"net/http"
	"regexp"
	"strings"
	"time"
)

// step sends a part of a response, or waits. Scenarios combine steps, so most scenarios need no additional code. The
// response ends cleanly after its last step.
type step func(c *call)

// do returns a step that takes the given steps.
func do(steps ...step) step {
	return func(c *call) {
		for _, step := range steps {
			step(c)
		}
	}
}

// answer returns a step that takes one of three steps: watch for a watch, list for a list, and stream for a streaming
// list.
func answer(watch, list, stream step) step {
	return func(c *call) {
		switch {
		case !c.watch:
			list(c)
		case c.streaming():
			stream(c)
		default:
			watch(c)
		}
	}
}

// watches returns a step that answers watches with the given steps, and lists correctly.
func watches(steps ...step) step { return answer(do(steps...), correct, correct) }

// lists returns a step that answers ordinary lists with the given steps. It answers streaming lists correctly. Watches
// expire, so that the client relists; see expiring.
func lists(steps ...step) step { return answer(expiring, do(steps...), correct) }

// streams returns a step that answers streaming lists with the given steps. It answers ordinary lists correctly.
// Watches expire, so that the client relists; see expiring.
func streams(steps ...step) step { return answer(expiring, list, do(steps...)) }

// turns returns a step that takes the given steps in turn, one per request. Lists and watches take separate turns. The
// first request of each kind takes the second step, because call.nth starts at 1.
func turns(steps ...step) step {
	return func(c *call) { steps[c.nth%len(steps)](c) }
}

// later returns a step that takes the given step only for the second and later pages of a list.
func later(step step) step {
	return func(c *call) {
		if c.q.Get("continue") != "" {
			step(c)
		}
	}
}

// one sends a single event in a watch and then ends the watch. It responds correctly to other requests.
func one(c *call) { watches(news)(c) }

// expiring is the watch of a server whose lists are wrong. It is correct for 21 seconds and then expires, so that the
// client relists. Like kube-apiserver, it closes the watch after the error, because some clients wait for that.
func expiring(c *call) { every(21*time.Second, send(expired), stop)(c) }

// begin sends the header of a successful response, unless a header was sent before.
func begin(c *call) { c.start(http.StatusOK) }

// abort breaks the connection and ends the call.
func abort(*call) { panic(http.ErrAbortHandler) }

// stop ends the response cleanly and ends the call.
func stop(*call) { panic(errStopped) }

// hang blocks until the client cancels the request.
func hang(c *call) {
	<-c.ctx.Done()
	abort(c)
}

func pause(d time.Duration) step { return func(c *call) { c.sleep(d) } }

// repeat returns a step that takes another step at the given interval until [Server.Behave] is called. Unlike every, it
// sends no correct events.
func repeat(interval time.Duration, step step) step {
	return func(c *call) {
		for ; !c.honest.Load(); c.sleep(interval) {
			step(c)
		}
	}
}

// flood writes 400 MiB, unless [Server.Behave] is called in the meantime.
func flood(c *call) {
	block := strings.Repeat("x", 1<<20)
	for i := 0; i < 400 && !c.honest.Load(); i++ {
		c.write(block)
	}
}

// every returns a step that continues a watch correctly, but also takes the given steps at an interval.
func every(interval time.Duration, steps ...step) step {
	return func(c *call) { c.feed(interval, do(steps...)) }
}

// news writes the watch's next event. If no change is left, it first changes a random object.
func news(c *call) {
	changes, _, _ := c.since(c.from)
	if len(changes) == 0 {
		c.Step()
		changes, _, _ = c.since(c.from)
	}
	if len(changes) > 0 {
		c.write(c.event(changes[0]))
	}
}

// nth is a placeholder in a text. Each list or watch replaces the placeholder with the next of the step's values.
const nth = "<nth>"

// pick returns the value that replaces nth in this call, or "" if there are no values.
func (c *call) pick(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[c.nth%len(values)]
}

// send returns a step that writes a text, after it has replaced nth with one of the values.
func send(text string, values ...string) step {
	return func(c *call) { c.write(strings.ReplaceAll(text, nth, c.pick(values))) }
}

// reject returns a step that sends an error response. Each response uses the next of the values for Retry-After.
func reject(code int, text string, retryAfter ...string) step {
	return func(c *call) { c.reject(code, c.pick(retryAfter), text) }
}

// bookmark returns a step that writes a bookmark. Its resourceVersion differs from the correct one by offset.
func bookmark(offset int) step {
	return func(c *call) { c.write(Bookmark(c.version(c.sent+offset), "")) }
}

// repeatVersion writes a bookmark with the requested resourceVersion.
func repeatVersion(c *call) { c.write(Bookmark(c.q.Get("resourceVersion"), "")) }

// pages returns a step that responds with the requested page after change has changed it.
func pages(change func(c *call, p *page)) step {
	return func(c *call) {
		p := c.page()
		change(c, p)
		c.writePage(p)
	}
}

// whole responds with all objects at a revision, without regard to the requested page.
func (c *call) whole(revision int) { c.writePage(&page{revision, c.items(c.at(revision)), ""}) }

// edit changes a text before it is sent. It returns the new text, or "" to send nothing.
type edit func(c *call, text string) string

// edited returns a step that makes `edit` change every text that later steps send. If edit is nil, later steps send
// their texts unchanged.
func edited(edit edit) step { return func(c *call) { c.edit = edit } }

// replace returns a step that makes later steps replace each match of a regular expression in their texts. The
// replacement may contain nth.
func replace(pattern, with string, values ...string) step {
	compiled := regexp.MustCompile(pattern)
	return edited(func(c *call, text string) string {
		return compiled.ReplaceAllString(text, strings.ReplaceAll(with, nth, c.pick(values)))
	})
}

// drip sends a text with a pause of one second after each byte. If the server stops misbehaving, drip returns the rest.
func drip(c *call, text string) (rest string) {
	for ; text != "" && !c.honest.Load(); text = text[1:] {
		c.send(text[:1])
		c.sleep(time.Second)
	}
	return text
}
