package hostile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.String()
}

// text returns a correct response: a list, or an event for a watch.
func (x *exchange) text() string {
	if x.watch {
		return x.news()
	}
	return x.document()
}

// onWatches returns a function that passes watches to wire and responds to other requests with a correct list.
func onWatches(wire func(x *exchange)) func(x *exchange) {
	return func(x *exchange) {
		if x.watch {
			wire(x)
		} else {
			x.reply(200, "", x.document())
		}
	}
}

func TestRecoversFromBrokenHTTP(t *testing.T) {
	const chunked = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n"
	chunk := func(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }
	play(t, []Scenario{
		{Name: "codes", Does: "sends unusual success codes, some of them without a body", Lies: true, wire: func(x *exchange) {
			code := []int{204, 205, 206, 304, 226, 299, 202, 600, 999}[x.nth%9]
			text := x.text()
			if code == 204 || code == 304 {
				text = ""
			}
			x.reply(code, "Content-Range: bytes 0-99/100\r\n", text)
		}},
		{Name: "part", Does: "sends 206 and a part of each list", wire: func(x *exchange) {
			at := x.m.now()
			x.reply(206, "Content-Range: items 0-4/24\r\n", List(x.m.version(at), "", x.m.items(x.m.at(at))[:5]))
		}},
		{Name: "retry-after-200", Does: "sends 200 with a Retry-After of one hour", Lies: true, wire: func(x *exchange) { x.reply(200, "Retry-After: 3600\r\n", x.text()) }},
		{Name: "interim-responses", Does: "sends many interim responses before each response", Lies: true, wire: func(x *exchange) {
			for i := range 200 {
				if !x.say([]string{"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 102 Processing\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"}[i%3]) {
					return
				}
			}
			x.reply(200, "", x.text())
		}},
		{Name: "slow-header", Does: "sends the response header at one byte per second", Causes: []error{lw.ErrSilent}, wire: func(x *exchange) {
			for _, b := range "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("y", 500) {
				if !x.say(string(b)) || !x.sleep(time.Second) {
					return
				}
			}
		}},
		{Name: "slow-body", Does: "sends bodies at one byte per second", slow: true, Lies: true, wire: func(x *exchange) {
			text := x.text()
			if x.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", len(text))) {
				x.drip(text, x.say)
			}
		}},
		{Name: "ws-slow", Does: "sends the frames of each watch at one byte per second", slow: true, Lies: true, ws: true, wire: onWatches(func(x *exchange) {
			x.upgrade()
			x.drip(encodeFrame(1, x.news()), x.say)
			x.frame(8, "\x03\xe8")
		})},
		{Name: "no-http", Does: "speaks a protocol other than HTTP/1.1", Lies: true, wire: func(x *exchange) {
			x.say([]string{"SSH-2.0-OpenSSH_9.9\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x00\x00\x12\x04\x00\x00\x00\x00\x00", "", "\n\n\n", "HTTP/1.1 200\n\n{}",
				"HTTP/0.9 200 OK\r\n\r\n", "HTTP/1.1 -1 OK\r\n\r\n"}[x.nth%8])
		}},
		{Name: "lengths", Does: "sends a wrong Content-Length", Lies: true, wire: func(x *exchange) {
			text := x.text()
			length := []int64{int64(len(text)) + 100, int64(len(text)) - 50, 0, 1 << 40}[x.nth%4]
			x.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", length, text))
		}},
		{Name: "cut-chunks", Does: "omits the last chunk", wire: func(x *exchange) { x.say(chunked + "\r\n" + chunk(x.text())) }},
		{Name: "gzip-cut", Does: "truncates gzip bodies at different positions", wire: func(x *exchange) {
			text := zipped(x.text())
			x.say(chunked + "Content-Encoding: gzip\r\n\r\n" + chunk(text[:x.nth*17%len(text)]) + "0\r\n\r\n")
		}},
		{Name: "gzip-garbage", Does: "declares a Content-Encoding that does not match the body", wire: func(x *exchange) {
			x.say(chunked + "Content-Encoding: " + []string{"gzip", "br", "gzip, gzip", "zstd"}[x.nth%4] + "\r\n\r\n" + chunk(x.text()) + "0\r\n\r\n")
		}, Lies: true},
		{Name: "redirect-loop", Does: "redirects in an endless loop", wire: func(x *exchange) {
			x.reply(307, fmt.Sprintf("Location: %s&n=%d\r\n", x.request.URL, x.nth), "")
		}},
		{Name: "redirect-elsewhere", Does: "redirects to another server, which rejects every request", Causes: []error{lw.ErrUnauthorized}, wire: func(x *exchange) {
			if x.host != "api.test" {
				if x.request.Header.Get("Authorization") != "" {
					panic("the credential was sent to another server")
				}
				x.reply(401, "", Status(401, "Unauthorized", "Unauthorized", ""))
				return
			}
			x.reply(302, "Location: http://other.test"+x.request.URL.String()+"\r\n", "")
		}},
		{Name: "upgrade", Does: "responds with 101 and switches to another protocol", Lies: true, wire: func(x *exchange) {
			x.say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n" + x.text())
		}},
		{Name: "tls-garbage", Does: "sends garbage during the TLS handshake", tls: true, wire: func(x *exchange) {
			_, _ = x.Read(make([]byte, 1000))
			x.say([]string{"", "\x15\x03\x03\x00\x02\x02\x28", "HTTP/1.1 400 Bad Request\r\n\r\n", "\x16\x03\x03\xff\xff", "\x00"}[x.nth%5])
		}},
		{Name: "tls-mute", Does: "never responds during the TLS handshake", tls: true, Causes: []error{lw.ErrSilent}, wire: func(x *exchange) {
			_, _ = io.Copy(io.Discard, x)
		}},
		{Name: "goaway-first", Does: "closes each HTTP/2 connection with GOAWAY when it accepts the connection", tls: true, wire: func(x *exchange) { x.goAway(0) }},
		{Name: "goaway-request", Does: "closes each HTTP/2 connection with GOAWAY after the first request", tls: true, wire: func(x *exchange) { x.goAway(1) }},
		{Name: "ws-codes", Does: "closes each WebSocket connection with a different code", ws: true, wire: onWatches(func(x *exchange) {
			x.upgrade()
			x.frame(1, x.news())
			code := []int{1000, 1001, 1002, 1006, 1011, 1012, 1013, 4000, 0, 999, 65535}[x.nth%11]
			x.frame(8, string([]byte{byte(code >> 8), byte(code)}))
		}), Lies: true},
		{Name: "ws-mute", Does: "accepts each WebSocket connection but sends nothing", ws: true, Causes: []error{lw.ErrSilent}, wire: onWatches(func(x *exchange) {
			x.upgrade()
			<-x.ctx.Done()
		})},
		{Name: "ws-pings", Does: "accepts each WebSocket connection but sends only pings, one per second", ws: true, Causes: []error{lw.ErrSilent}, wire: onWatches(func(x *exchange) {
			x.upgrade()
			for x.frame(9, "x") && x.sleep(time.Second) {
			}
		})},
	})
}
