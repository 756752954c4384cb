package hostile

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

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
func (c *call) text() string {
	if c.watch {
		return c.news()
	}
	return c.document()
}

// onWatches returns a step that answers watches and streaming lists with the arbitrary bytes that `write` sends. It
// answers ordinary lists correctly.
func onWatches(write step) step { return answer(raw(write), list, raw(write)) }

func TestRecoversFromBrokenHTTP(t *testing.T) {
	const chunked = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n"
	chunk := func(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }
	play(t, overNetwork(append(WebSockets(), []Scenario{
		{Name: "codes", Does: "sends unusual success codes, some of them without a body", Lies: true, serve: raw(func(c *call) {
			code := []int{204, 205, 206, 304, 226, 299, 202, 600, 999}[c.nth%9]
			text := c.text()
			if code == 204 || code == 304 {
				text = ""
			}
			c.reply(code, "Content-Range: bytes 0-99/100\r\n", text)
		})},
		{Name: "part", Does: "sends 206 and a part of each list", serve: raw(func(c *call) {
			at := c.now()
			c.reply(206, "Content-Range: items 0-4/24\r\n", List(c.version(at), "", c.items(c.at(at))[:5]))
		})},
		{Name: "retry-after-200", Does: "sends 200 with a Retry-After of one hour", Lies: true, serve: raw(func(c *call) { c.reply(200, "Retry-After: 3600\r\n", c.text()) })},
		{Name: "interim-responses", Does: "sends many interim responses before each response", Lies: true, serve: raw(func(c *call) {
			for i := range 200 {
				c.say([]string{"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 102 Processing\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"}[i%3])
			}
			c.reply(200, "", c.text())
		})},
		{Name: "slow-header", Does: "sends the response header at one byte per second", Causes: []error{lw.ErrSilent}, serve: raw(func(c *call) {
			c.dripBytes("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("y", 500))
		})},
		{Name: "slow-body", Does: "sends bodies at one byte per second", slow: true, Lies: true, serve: raw(func(c *call) {
			text := c.text()
			c.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", len(text)))
			c.dripBytes(text)
		})},
		{Name: "ws-slow", Does: "sends the frames of each watch at one byte per second", slow: true, Lies: true, ws: true, serve: onWatches(func(c *call) {
			c.upgrade()
			c.dripBytes(encodeFrame(1, c.news()))
			c.frame(8, "\x03\xe8")
		})},
		{Name: "no-http", Does: "speaks a protocol other than HTTP/1.1", Lies: true, serve: raw(func(c *call) {
			c.say([]string{"SSH-2.0-OpenSSH_9.9\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x00\x00\x12\x04\x00\x00\x00\x00\x00", "", "\n\n\n", "HTTP/1.1 200\n\n{}",
				"HTTP/0.9 200 OK\r\n\r\n", "HTTP/1.1 -1 OK\r\n\r\n"}[c.nth%8])
		})},
		{Name: "lengths", Does: "sends a wrong Content-Length", Lies: true, serve: raw(func(c *call) {
			text := c.text()
			length := []int64{int64(len(text)) + 100, int64(len(text)) - 50, 0, 1 << 40}[c.nth%4]
			c.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", length, text))
		})},
		{Name: "cut-chunks", Does: "omits the last chunk", serve: raw(func(c *call) { c.say(chunked + "\r\n" + chunk(c.text())) })},
		{Name: "gzip-cut", Does: "truncates gzip bodies at different positions", serve: raw(func(c *call) {
			text := zipped(c.text())
			c.say(chunked + "Content-Encoding: gzip\r\n\r\n" + chunk(text[:c.nth*17%len(text)]) + "0\r\n\r\n")
		})},
		{Name: "gzip-garbage", Does: "declares a Content-Encoding that does not match the body", serve: raw(func(c *call) {
			c.say(chunked + "Content-Encoding: " + []string{"gzip", "br", "gzip, gzip", "zstd"}[c.nth%4] + "\r\n\r\n" + chunk(c.text()) + "0\r\n\r\n")
		}), Lies: true},
		{Name: "redirect-loop", Does: "redirects in an endless loop", serve: raw(func(c *call) {
			c.reply(307, fmt.Sprintf("Location: %s&n=%d\r\n", c.request.URL, c.nth), "")
		})},
		{Name: "redirect-elsewhere", Does: "redirects to another server, which rejects every request", Causes: []error{lw.ErrUnauthorized}, serve: raw(func(c *call) {
			if c.request.Host != "api.test" {
				if c.request.Header.Get("Authorization") != "" {
					t.Error("the credential was sent to another server") // net/http would recover a panic
				}
				c.reply(401, "", Status(401, "Unauthorized", "Unauthorized", ""))
				return
			}
			c.reply(302, "Location: http://other.test"+c.request.URL.String()+"\r\n", "")
		})},
		{Name: "upgrade", Does: "responds with 101 and switches to another protocol", Lies: true, serve: raw(func(c *call) {
			c.say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n" + c.text())
		})},
		{Name: "tls-garbage", Does: "sends garbage during the TLS handshake", accept: func(conn net.Conn, _ *tls.Config, nth int) {
			_, _ = conn.Read(make([]byte, 1000))
			_, _ = io.WriteString(conn, []string{"", "\x15\x03\x03\x00\x02\x02\x28", "HTTP/1.1 400 Bad Request\r\n\r\n", "\x16\x03\x03\xff\xff", "\x00"}[nth%5])
		}},
		{Name: "tls-mute", Does: "never responds during the TLS handshake", Causes: []error{lw.ErrSilent}, accept: func(conn net.Conn, _ *tls.Config, _ int) {
			_, _ = io.Copy(io.Discard, conn)
		}},
		{Name: "goaway-first", Does: "closes each HTTP/2 connection with GOAWAY when it accepts the connection", accept: goAway(0)},
		{Name: "goaway-request", Does: "closes each HTTP/2 connection with GOAWAY after the first request", accept: goAway(1)},
		{Name: "ws-mute", Does: "accepts each WebSocket connection but sends nothing", ws: true, Causes: []error{lw.ErrSilent}, serve: onWatches(func(c *call) {
			c.upgrade()
			hang(c)
		})},
	}...)))
}
