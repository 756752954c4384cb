package hostile

import (
	"crypto/sha1" //nolint:gosec // RFC 6455 requires SHA-1
	"encoding/base64"
	"encoding/binary"
	"io"
	"net/http"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// hijack takes over the connection, so that steps can write bytes that net/http would not. It also cancels the call
// when the client disconnects, because net/http does not watch a hijacked connection.
func (c *call) hijack() {
	conn, buffered, err := http.NewResponseController(c.w).Hijack()
	if err != nil {
		panic(err) // in memory, raw steps do not work; the panic shows that the scenario must set network
	}
	c.conn, c.begun = conn, true
	go func() {
		_, _ = io.Copy(io.Discard, buffered)
		c.cancel()
	}()
}

// raw returns a step that takes over the connection, runs the step `write`, which can send arbitrary bytes, and closes
// the connection. It works only over a network.
func raw(write step) step { return do((*call).hijack, write, abort) }

// say sends bytes over the connection that hijack has taken over.
func (c *call) say(text string) {
	if _, err := io.WriteString(c.conn, text); err != nil {
		abort(c)
	}
}

// handshake returns the response that accepts a WebSocket.
func handshake(r *http.Request) string {
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) //nolint:gosec // RFC 6455 requires SHA-1
	return "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: " +
		base64.StdEncoding.EncodeToString(sum[:]) + "\r\n\r\n"
}

// encodeFrame returns an unmasked WebSocket frame, because servers must not mask frames. The opcode is 1 for text, 8 for
// close or 9 for ping. The payload must be shorter than 64 KiB.
func encodeFrame(opcode byte, payload string) string {
	head := []byte{0x80 | opcode, byte(len(payload))} // 0x80 marks the last frame of a message
	if len(payload) > 125 {
		head = binary.BigEndian.AppendUint16([]byte{0x80 | opcode, 126}, uint16(len(payload)))
	}
	return string(head) + payload
}

// control returns a step that writes a control frame to a WebSocket. If the connection is not a WebSocket, the step
// breaks it.
func control(opcode byte, payload string) step {
	return func(c *call) {
		begin(c)
		if c.conn == nil {
			abort(c)
		}
		c.say(encodeFrame(opcode, payload))
	}
}

// WebSockets returns the scenarios that need watches over WebSocket.
func WebSockets() []Scenario {
	pings := repeat(time.Second, control(9, "x"))
	// The codes contain legal ones, and some that must not appear in a close frame, such as 1006. A client must treat them
	// all as the end of the watch. Only watches and streaming lists use WebSocket, so ordinary lists stay correct.
	codes := func(c *call) {
		code := []int{1000, 1001, 1002, 1006, 1011, 1012, 1013, 4000, 0, 999, 65535}[c.nth%11]
		do(news, control(8, string([]byte{byte(code >> 8), byte(code)})), abort)(c)
	}
	return sourced("https://www.rfc-editor.org/rfc/rfc6455", []Scenario{
		{Name: "ws-codes", Does: "closes each WebSocket connection with a different code", ws: true, serve: answer(codes, list, codes)},
		{Name: "ws-pings", Does: "accepts each WebSocket connection but sends only pings, one per second", ws: true, Causes: []error{lw.ErrSilent}, serve: answer(pings, list, pings)},
	})
}
