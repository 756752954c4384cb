package hostile

import (
	"net/http"
	"regexp"
	"strings"
	"time"
)

// step sends a part of a response, or waits. Scenarios combine steps, so that most of them need no code of their own.
// The response ends cleanly after its last step.
type step func(c *call)

// do returns a step that takes the given steps.
func do(steps ...step) step {
	return func(c *call) {
		for _, step := range steps {
			step(c)
		}
	}
}

// answer returns a step that takes one of three steps, depending on the request.
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

// lists returns a step that answers lists with the given steps. Its watches are correct for 21 seconds and then expire,
// so that the client lists again.
func lists(steps ...step) step { return answer(expiring, do(steps...), correct) }

// streams is like lists, but for streaming lists.
func streams(steps ...step) step { return answer(expiring, list, do(steps...)) }

// turns returns a step that takes one of the given steps: the nth list or watch takes the step with the index n, modulo
// the number of steps.
func turns(steps ...step) step {
	return func(c *call) { steps[c.nth%len(steps)](c) }
}

// later returns a step that is only taken for the second page of a list and for later pages.
func later(step step) step {
	return func(c *call) {
		if c.q.Get("continue") != "" {
			step(c)
		}
	}
}

// one sends a single event in a watch, and responds correctly to other requests.
func one(c *call) { watches(news)(c) }

// expiring is the watch of a server whose lists are wrong.
func expiring(c *call) { every(21*time.Second, send(expired), hang)(c) }

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

// repeat returns a step that takes another step at the given interval until the server behaves. Unlike every, it sends
// no correct events.
func repeat(interval time.Duration, step step) step {
	return func(c *call) {
		for ; !c.honest.Load(); c.sleep(interval) {
			step(c)
		}
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

// nth stands for a value that is different in each list or watch.
const nth = "<nth>"

// pick returns the value that stands for nth in a text.
func (c *call) pick(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[c.nth%len(values)]
}

// send returns a step that writes a text. Each response uses another one of the values, if there are any, for nth.
func send(text string, values ...string) step {
	return func(c *call) { c.write(strings.ReplaceAll(text, nth, c.pick(values))) }
}

// reject returns a step that sends an error response. Each response uses another one of the values of Retry-After.
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

// edit returns the text to send instead of a text.
type edit func(c *call, text string) string

// edited returns a step that lets edit change the texts of later steps. If edit is nil, they stay unchanged.
func edited(edit edit) step { return func(c *call) { c.edit = edit } }

// replace returns a step that replaces each match of a regular expression in the texts of later steps. Each response
// uses another one of the values, if there are any, for nth in the replacement.
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
