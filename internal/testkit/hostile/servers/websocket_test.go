package servers

import (
	"crypto/sha1" //nolint:gosec // RFC 6455 requires SHA-1
	"encoding/base64"
	"encoding/binary"
	"io"
)

func (x *exchange) upgrade() {
	sum := sha1.Sum([]byte(x.request.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) //nolint:gosec // RFC 6455 requires SHA-1
	x.say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: " +
		base64.StdEncoding.EncodeToString(sum[:]) + "\r\n\r\n")
}

// frame writes a WebSocket frame and reports whether it succeeded.
func (x *exchange) frame(opcode byte, payload []byte) bool {
	return x.say(encodeFrame(opcode, payload))
}

func encodeFrame(opcode byte, payload []byte) string {
	head := []byte{0x80 | opcode, byte(len(payload))}
	if len(payload) > 125 {
		head = binary.BigEndian.AppendUint16([]byte{0x80 | opcode, 126}, uint16(len(payload))) // payloads have at most 32 KiB
	}
	return string(append(head, payload...))
}

// frames writes the data of body as WebSocket messages. At the end of body, it closes the WebSocket with code 1000.
func (x *exchange) frames(body io.Reader) {
	buffer := make([]byte, 1<<15)
	for {
		n, err := body.Read(buffer)
		if n > 0 && !x.frame(1, buffer[:n]) {
			return
		}
		if err != nil {
			if err == io.EOF {
				_ = x.say(string([]byte{0x88, 2, 3, 232}))
			}
			return
		}
	}
}
