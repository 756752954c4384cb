//go:build !js

package ws

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// answering is an http.RoundTripper that accepts every upgrade. Its response contains conn as the upgraded connection,
// and header as additional headers.
type answering struct {
	conn   io.ReadWriteCloser
	header http.Header
}

func (a answering) RoundTrip(req *http.Request) (*http.Response, error) {
	sum := sha1.Sum([]byte(req.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	header := http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, accept: {base64.StdEncoding.EncodeToString(sum[:])}}
	for name, values := range a.header {
		header[name] = values
	}
	return &http.Response{StatusCode: 101, ProtoMajor: 1, ProtoMinor: 1, Header: header, Body: a.conn, Request: req}, nil
}

// open opens a watch that receives its WebSocket frames from conn, and returns the response.
func open(ctx context.Context, t testing.TB, conn io.ReadWriteCloser, header http.Header, limit int64) (*lw.Response, error) {
	t.Helper()
	base, err := lwhttp.New("http://server", &lwhttp.Options{Client: &http.Client{Transport: answering{conn, header}}})
	require.NoError(t, err)
	transport := New(base).(*transport)
	transport.limit = limit
	return transport.Open(ctx, watch)
}

// scriptedConn is a fake connection. Read returns the bytes of the field text and then io.EOF.
type scriptedConn struct {
	text    string
	step    int  // maximum number of bytes per read
	eager   bool // whether Read returns io.EOF together with the last bytes
	written int
}

func (s *scriptedConn) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), s.step)], s.text)
	s.text = s.text[n:]
	if s.text == "" && (n == 0 || s.eager) {
		return n, io.EOF
	}
	return n, nil
}

func (s *scriptedConn) Write(p []byte) (int, error) { s.written += len(p); return len(p), nil }
func (s *scriptedConn) Close() error                { return nil }

// frame encodes an unmasked WebSocket frame. Its first byte contains the FIN bit and the opcode.
func frame(first byte, payload string) string {
	header := []byte{first, byte(len(payload))}
	if len(payload) > 125 {
		header = binary.BigEndian.AppendUint16([]byte{first, 126}, uint16(len(payload)))
	}
	return string(header) + payload
}

// reference is a simple decoder of WebSocket frames (RFC 6455). It returns the expected text of a watch and its final
// error.
func reference(stream string, limit uint64) (text string, cause error) {
	messages, within, size := 0, false, uint64(0)
	for {
		if len(stream) < 2 {
			return text, io.ErrUnexpectedEOF
		}
		final, reserved, opcode := stream[0]&0x80 != 0, stream[0]&0x70 != 0, stream[0]&0x0f
		masked, length := stream[1]&0x80 != 0, uint64(stream[1]&0x7f)
		control := opcode >= 8
		known := opcode <= 2 || opcode >= 8 && opcode <= 10
		if reserved || masked || !known || control && (!final || length > 125) || !control && within != (opcode == 0) {
			return text, errProtocol
		}
		stream = stream[2:]
		if more := map[uint64]int{126: 2, 127: 8}[length]; more > 0 {
			if len(stream) < more {
				return text, io.ErrUnexpectedEOF
			}
			length = 0
			for i := range more {
				length = length<<8 | uint64(stream[i])
			}
			stream = stream[more:]
		}
		if control {
			if uint64(len(stream)) < length {
				return text, io.ErrUnexpectedEOF
			}
			if opcode == 8 {
				return text, closing(stream[:length])
			}
			stream = stream[length:]
			continue
		}
		if opcode != 0 {
			size = 0
		}
		if length > limit || size+length > limit {
			return text, lw.ErrTooLarge
		}
		if size += length; opcode != 0 {
			if messages++; messages > 1 {
				text += "\n"
			}
		}
		within = !final
		if uint64(len(stream)) < length {
			return text + stream, io.ErrUnexpectedEOF
		}
		text, stream = text+stream[:length], stream[length:]
	}
}

// closing returns the expected error for a close frame with this payload, or nil for code 1000.
func closing(payload string) error {
	if len(payload) < 2 {
		return &closeError{Code: 1005}
	}
	code := int(binary.BigEndian.Uint16([]byte(payload)))
	valid := code >= 1000 && code <= 1003 || code >= 1007 && code <= 1013 || code >= 3000 && code <= 4999
	switch {
	case !valid || !utf8.ValidString(payload[2:]):
		return errProtocol
	case code == 1000:
		return nil
	}
	return &closeError{Code: code, Reason: payload[2:]}
}

// FuzzFrames requires that a watch and the reference decoder return the same text and error.
func FuzzFrames(f *testing.F) {
	normal := "\x03\xe8"
	for _, stream := range []string{
		frame(0x81, "one\n") + frame(0x82, "two") + frame(0x88, normal),
		frame(0x01, "o") + frame(0x89, "ping") + frame(0x00, "") + frame(0x80, "ne") + frame(0x8a, "pong") + frame(0x81, "") + frame(0x88, ""),
		frame(0x81, strings.Repeat("x", 200)) + "\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff",
		"\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff", frame(0x80, "x"), frame(0x81, "x") + frame(0x09, ""), frame(0x88, "\x03\xf3etcd"),
		frame(0x01, strings.Repeat("x", 900)) + frame(0x80, strings.Repeat("x", 125)), frame(0xc1, "\xf2\x48\x04\x00") + frame(0x88, normal),
	} {
		f.Add(stream, uint16(3), true)
		f.Add(stream, uint16(5000), false)
	}
	f.Fuzz(func(t *testing.T, stream string, step uint16, eager bool) {
		const limit = 1000
		conn := &scriptedConn{text: stream, step: int(step%8192) + 1, eager: eager}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // a watch normally ends long before this timeout
		defer cancel()
		body, err := open(ctx, t, conn, nil, limit)
		require.NoError(t, err)
		defer body.Close()
		text, err := io.ReadAll(body)
		wanted, cause := reference(stream, limit)
		require.Equal(t, wanted, string(text))
		if errors.Is(cause, errProtocol) {
			require.ErrorIs(t, err, errProtocol)
		} else {
			require.Equal(t, cause, err)
		}
		_, again := body.Read(make([]byte, 1))
		require.True(t, again == err || err == nil && again == io.EOF, "the final error must be repeated, but it changed to %v", again)
		require.LessOrEqual(t, conn.written, 3*len(stream)+200, "pongs must not be larger than their pings")
	})
}
