// Package wsframe encodes WebSocket frames for tests.
package wsframe

import "encoding/binary"

// New returns a WebSocket frame as sent by a server, without a mask (RFC 6455, section 5.2). opcode is 0
// (continuation), 1 (text), 2 (binary), 8 (close), 9 (ping) or 10 (pong). final is false if a continuation follows.
func New(opcode byte, final bool, payload []byte) []byte {
	if final {
		opcode |= 0x80
	}
	frame := []byte{opcode}
	switch n := len(payload); {
	case n < 126:
		frame = append(frame, byte(n))
	case n < 1<<16:
		frame = binary.BigEndian.AppendUint16(append(frame, 126), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, 127), uint64(n))
	}
	return append(frame, payload...)
}

// Close returns a close frame. reason must not exceed 123 bytes.
func Close(code uint16, reason string) []byte {
	return New(8, true, append(binary.BigEndian.AppendUint16(nil, code), reason...))
}
