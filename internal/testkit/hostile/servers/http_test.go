package servers

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

// text returns a correct list, or a correct event for a watch.
func (x *exchange) text() string {
	if x.watch {
		return x.news()
	}
	return x.document()
}

func TestRecoversFromBrokenHTTP(t *testing.T) {
	const chunked = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n"
	chunk := func(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }
	play(t, []server{
		{name: "codes", does: "sends unusual success codes, some of them without a body", lies: true, wire: func(x *exchange) {
			code := []int{204, 205, 206, 304, 226, 299, 202, 600, 999}[x.nth%9]
			text := x.text()
			if code == 204 || code == 304 {
				text = ""
			}
			x.reply(code, "Content-Range: bytes 0-99/100\r\n", text)
		}},
		{name: "part", does: "sends 206 and a part of each list", wire: func(x *exchange) {
			_, at, _ := x.m.since(0)
			items := (&call{memory: x.m}).items(at)
			x.reply(206, "Content-Range: items 0-4/24\r\n", document(x.m.version(at), "", items[:5]))
		}},
		{name: "retry-after-200", does: "sends 200 with a Retry-After of one hour", lies: true, wire: func(x *exchange) { x.reply(200, "Retry-After: 3600\r\n", x.text()) }},
		{name: "interim-responses", does: "sends many interim responses before each response", lies: true, wire: func(x *exchange) {
			for i := range 200 {
				if !x.say([]string{"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 102 Processing\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"}[i%3]) {
					return
				}
			}
			x.reply(200, "", x.text())
		}},
		{name: "slow-header", does: "sends the response header at one byte per second", causes: []error{lw.ErrSilent}, wire: func(x *exchange) {
			for _, b := range "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("y", 500) {
				if !x.say(string(b)) || !x.sleep(time.Second) {
					return
				}
			}
		}},
		{name: "slow-body", does: "sends bodies at one byte per second", slow: true, lies: true, wire: func(x *exchange) {
			text := x.text()
			if x.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", len(text))) {
				x.drip(text, x.say)
			}
		}},
		{name: "ws-slow", does: "sends the frames of each watch at one byte per second", slow: true, lies: true, ws: true, wire: func(x *exchange) {
			if !x.watch {
				x.reply(200, "", x.document())
				return
			}
			x.upgrade()
			x.drip(encodeFrame(1, []byte(x.news())), x.say)
			x.frame(8, []byte{3, 232})
		}},
		{name: "no-http", does: "speaks a protocol other than HTTP/1.1", lies: true, wire: func(x *exchange) {
			x.say([]string{"SSH-2.0-OpenSSH_9.9\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x00\x00\x12\x04\x00\x00\x00\x00\x00", "", "\n\n\n", "HTTP/1.1 200\n\n{}",
				"HTTP/0.9 200 OK\r\n\r\n", "HTTP/1.1 -1 OK\r\n\r\n"}[x.nth%8])
		}},
		{name: "lengths", does: "sends a wrong Content-Length", lies: true, wire: func(x *exchange) {
			text := x.text()
			length := []int64{int64(len(text)) + 100, int64(len(text)) - 50, 0, 1 << 40}[x.nth%4]
			x.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", length, text))
		}},
		{name: "cut-chunks", does: "omits the last chunk", wire: func(x *exchange) { x.say(chunked + "\r\n" + chunk(x.text())) }},
		{name: "gzip-cut", does: "truncates gzip bodies at different positions", wire: func(x *exchange) {
			text := zipped(x.text())
			x.say(chunked + "Content-Encoding: gzip\r\n\r\n" + chunk(text[:x.nth*17%len(text)]) + "0\r\n\r\n")
		}},
		{name: "gzip-garbage", does: "declares a Content-Encoding that does not match the body", wire: func(x *exchange) {
			x.say(chunked + "Content-Encoding: " + []string{"gzip", "br", "gzip, gzip", "zstd"}[x.nth%4] + "\r\n\r\n" + chunk(x.text()) + "0\r\n\r\n")
		}, lies: true},
		{name: "redirect-loop", does: "redirects in an endless loop", wire: func(x *exchange) {
			x.reply(307, fmt.Sprintf("Location: %s&n=%d\r\n", x.request.URL, x.nth), "")
		}},
		{name: "redirect-elsewhere", does: "redirects to another server, which rejects every request", causes: []error{lw.ErrUnauthorized}, wire: func(x *exchange) {
			if x.host != "api.test" {
				if x.request.Header.Get("Authorization") != "" {
					panic("the credential was sent to another server")
				}
				x.reply(401, "", failure(401, "Unauthorized", "Unauthorized"))
				return
			}
			x.reply(302, "Location: http://other.test"+x.request.URL.String()+"\r\n", "")
		}},
		{name: "upgrade", does: "responds with 101 and switches to another protocol", lies: true, wire: func(x *exchange) {
			x.say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n" + x.text())
		}},
		{name: "tls-garbage", does: "sends garbage during the TLS handshake", tls: true, wire: func(x *exchange) {
			_, _ = x.Read(make([]byte, 1000))
			x.say([]string{"", "\x15\x03\x03\x00\x02\x02\x28", "HTTP/1.1 400 Bad Request\r\n\r\n", "\x16\x03\x03\xff\xff", "\x00"}[x.nth%5])
		}},
		{name: "tls-mute", does: "never responds during the TLS handshake", tls: true, causes: []error{lw.ErrSilent}, wire: func(x *exchange) {
			_, _ = io.Copy(io.Discard, x)
		}},
		{name: "goaway-first", does: "closes each HTTP/2 connection with GOAWAY when it accepts the connection", tls: true, wire: func(x *exchange) { x.goAway(0) }},
		{name: "goaway-request", does: "closes each HTTP/2 connection with GOAWAY after the first request", tls: true, wire: func(x *exchange) { x.goAway(1) }},
		{name: "ws-codes", does: "closes each WebSocket connection with a different code", ws: true, wire: func(x *exchange) {
			if !x.watch {
				x.reply(200, "", x.document())
				return
			}
			x.upgrade()
			x.frame(1, []byte(x.news()))
			code := []int{1000, 1001, 1002, 1006, 1011, 1012, 1013, 4000, 0, 999, 65535}[x.nth%11]
			x.frame(8, []byte{byte(code >> 8), byte(code)})
		}, lies: true},
		{name: "ws-mute", does: "accepts each WebSocket connection but sends nothing", ws: true, causes: []error{lw.ErrSilent}, wire: func(x *exchange) {
			if !x.watch {
				x.reply(200, "", x.document())
				return
			}
			x.upgrade()
			<-x.ctx.Done()
		}},
		{name: "ws-pings", does: "accepts each WebSocket connection but sends only pings, one per second", ws: true, causes: []error{lw.ErrSilent}, wire: func(x *exchange) {
			if !x.watch {
				x.reply(200, "", x.document())
				return
			}
			x.upgrade()
			for x.frame(9, []byte("x")) && x.sleep(time.Second) {
			}
		}},
	})
}
