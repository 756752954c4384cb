package hostile

import (
	"crypto/sha1" //nolint:gosec // RFC 6455 requires SHA-1
	"encoding/base64"
	"encoding/binary"
	"io"
	"net"
	"net/http"
)

// upgrade performs the WebSocket handshake for the request. It cancels the call when the client disconnects. It uses no
// library, because a library would answer pings and could not send invalid frames.
func (c *call) upgrade() net.Conn {
	conn, buffered, err := http.NewResponseController(c.w).Hijack()
	if err != nil {
		abort(c)
	}
	_, _ = io.WriteString(conn, handshake(c.request))
	go func() {
		_, _ = io.Copy(io.Discard, buffered)
		c.cancel()
	}()
	return conn
}

// handshake returns the response that accepts a WebSocket.
func handshake(r *http.Request) string {
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) //nolint:gosec // RFC 6455 requires SHA-1
	return "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: " +
		base64.StdEncoding.EncodeToString(sum[:]) + "\r\n\r\n"
}

// encodeFrame returns a WebSocket frame without a mask. The payload must be shorter than 64 KiB.
func encodeFrame(opcode byte, payload string) string {
	head := []byte{0x80 | opcode, byte(len(payload))}
	if len(payload) > 125 {
		head = binary.BigEndian.AppendUint16([]byte{0x80 | opcode, 126}, uint16(len(payload)))
	}
	return string(head) + payload
}
