package hostile

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// form describes how the server changes the token before it echoes the token. For example, the server encodes or
// truncates the token.
type form struct {
	name string
	of   func(string) string
}

var (
	whole = []form{{"all", func(s string) string { return s }}}
	half  = []form{{"the first half", func(s string) string { return s[:len(s)/2] }}}
)

var encoded = []form{
	{"base64", func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }},
	{"base64 of the header", func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("Bearer " + s)) }},
	{"percent-encoding", func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
		return b.String()
	}},
}

// leaks returns a function that fails the test if a string contains 12 consecutive characters of the token, plain or
// encoded. A shorter match could be a coincidence, and a truncated token is a leak, too.
func leaks(t *testing.T) func(string) {
	found := map[string]bool{}
	return func(text string) {
		for _, form := range append(whole[:1:1], encoded...) {
			for secret, i := form.of(token), 0; i+12 <= len(secret) && !found[form.name]; i++ {
				if strings.Contains(text, secret[i:i+12]) {
					found[form.name] = true
					t.Errorf("the token or part of it (form: %s) leaked into %.400q", form.name, text)
				}
			}
		}
	}
}

// echo returns a server that repeats each request's token in its response. Each response uses the next form.
func echo(forms []form, name, does string, write func(c *call, secret string)) Scenario {
	return Scenario{Name: name, Does: does, Lies: true, serve: raw(func(c *call) {
		text := strings.TrimPrefix(c.request.Header.Get("Authorization"), "Bearer ")
		if text == "" {
			text = token // the redirected request has no token, but the first server may have leaked it
		}
		form := forms[c.nth%len(forms)]
		c.nth /= len(forms) // so that each form is combined with each variant of the response
		write(c, form.of(text))
	})}
}

func TestRedactsEchoedToken(t *testing.T) { play(t, overNetwork(echoes(whole))) }

func TestRedactsHalfOfEchoedToken(t *testing.T) { play(t, overNetwork(echoes(half))) }

func TestRedactsEncodedEchoedToken(t *testing.T) { play(t, overNetwork(echoes(encoded))) }

func echoes(forms []form) []Scenario {
	status := func(s string) string {
		return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{"continue":%q},"status":%[1]q,"message":%[1]q,"reason":%[1]q,"details":{"name":%[1]q,"group":%[1]q,"kind":%[1]q,"causes":[{"reason":%[1]q,"message":%[1]q,"field":%[1]q}]},"code":403}`, s)
	}
	events := func(write func(c *call, secret string) string) func(*call, string) {
		return func(c *call, secret string) {
			if c.watch {
				c.reply(200, "Content-Type: application/json\r\n", write(c, secret))
				return
			}
			c.reply(200, "", c.document())
		}
	}
	return []Scenario{
		echo(forms, "status", "writes the token in every field of a Status", func(c *call, s string) { c.reply(403, "", status(s)) }),
		echo(forms, "status-long", "writes a Status in which the token crosses the 64 kB truncation limit", func(c *call, s string) {
			c.reply(403, "", `{"kind":"Status","apiVersion":"v1","message":"`+strings.Repeat("y", 65536-600-c.nth*7)+s+`","reason":"`+s+`"}`)
		}),
		echo(forms, "event", "writes the token in every field of an ERROR event", events(func(c *call, s string) string {
			return `{"type":"ERROR","object":` + status(s) + "}\n"
		})),
		echo(forms, "event-no-status", "writes the token in an ERROR event without a Status", events(func(c *call, s string) string {
			return fmt.Sprintf(`{"type":"ERROR","object":{"kind":%q,"apiVersion":%[1]q,"metadata":{"name":%[1]q}}}`, s)
		})),
		echo(forms, "event-type", "writes the token as an event's type", events(func(c *call, s string) string {
			return fmt.Sprintf(`{"type":%q,"object":{}}`, s)
		})),
		echo(forms, "kind", "writes the token as a list's kind and apiVersion", func(c *call, s string) {
			c.reply(200, "", strings.NewReplacer("ConfigMapList", s+[]string{"", "List"}[c.nth%2], `"v1"`, fmt.Sprintf("%q", s)).Replace(c.document()))
		}),
		echo(forms, "member", "writes the token as the whole body or in malformed JSON", func(c *call, s string) {
			c.reply(200, "", []string{s, `{"` + s + `":`, `{"` + s, `[` + s}[c.nth%4])
		}),
		echo(forms, "html", "writes a text in which the token crosses the 200-byte truncation limit", func(c *call, s string) {
			c.reply(502, "", "Error: "+strings.Repeat("p", 150+c.nth*3%50)+s)
		}),
		echo(forms, "reason", "writes the token in the status line", func(c *call, s string) {
			c.say([]string{"HTTP/1.1 500 ", "HTTP/1.1 ", "HTTP/", "HTTP/1.1 99999 ", ""}[c.nth%5] + s + "\r\nConnection: close\r\n\r\n")
		}),
		echo(forms, "headers", "writes the token in headers that clients quote in errors", func(c *call, s string) {
			name := []string{"Retry-After", "Content-Type", "Content-Encoding", "Transfer-Encoding", "Content-Length", "Warning", "WWW-Authenticate", "Set-Cookie"}[c.nth%8]
			c.say("HTTP/1.1 503 Busy\r\nConnection: close\r\n" + name + ": " + s + "\r\n\r\n")
		}),
		echo(forms, "header-line", "writes the token as a header without a colon", func(c *call, s string) {
			c.say("HTTP/1.1 200 OK\r\n" + s + "\r\n\r\n")
		}),
		echo(forms, "redirect", "redirects to URLs that contain the token", func(c *call, s string) {
			place := []string{"http://other.test/", "http://api.test/", "http://", "http://other.test/%zz", "ftp://", "http://other.test:"}[c.nth%6]
			c.reply(302, "Location: "+place+s+"\r\n", "")
		}),
		echo(forms, "elsewhere", "redirects to another server that echoes the token from the URL", func(c *call, s string) {
			if c.request.Host == "api.test" {
				c.reply(307, "Location: http://other.test/?t="+s+"\r\n", "")
				return
			}
			c.reply(403, "", status(s))
		}),
		echo(forms, "trailer", "writes the token in chunk lengths and trailers", func(c *call, s string) {
			text := c.document()
			end := []string{s + "\r\n", "0\r\n" + s + "\r\n\r\n", "0\r\nX: " + s + "\r\n\r\n", "0;" + s + "\r\n\r\n"}[c.nth%4]
			c.say("HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n", len(text), text) + end)
		}),
	}
}

func TestRedactsTokenEchoedByWebSocket(t *testing.T) { play(t, overNetwork(socketEchoes(whole))) }

func TestRedactsHalfOfTokenEchoedByWebSocket(t *testing.T) { play(t, overNetwork(socketEchoes(half))) }

func TestRedactsEncodedTokenEchoedByWebSocket(t *testing.T) {
	play(t, overNetwork(socketEchoes(encoded)))
}

func socketEchoes(forms []form) []Scenario {
	ws := func(name, does string, write func(c *call, secret string)) Scenario {
		s := echo(forms, name, does, write)
		s.ws, s.serve = true, onWatches(s.serve)
		return s
	}
	return []Scenario{
		ws("close-reason", "closes each WebSocket connection with the token as the reason", func(c *call, s string) {
			c.upgrade()
			c.frame(8, "\x03\xf3"+s[:min(len(s), 123)])
		}),
		ws("handshake-headers", "writes the token in the handshake headers", func(c *call, s string) {
			name := []string{"Upgrade", "Sec-WebSocket-Accept", "Sec-WebSocket-Protocol", "Sec-WebSocket-Extensions"}[c.nth%4]
			c.say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n" + name + ": " + s + "\r\n\r\n")
		}),
		ws("handshake-rejected", "rejects handshakes with the token as the body", func(c *call, s string) { c.reply(403, "", s) }),
		ws("message", "writes the token as a message", func(c *call, s string) {
			c.upgrade()
			c.frame(1, s)
			c.frame(1, fmt.Sprintf(`{"type":%q}`, s))
		}),
	}
}
