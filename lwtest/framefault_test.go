package lwtest

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

func TestFaultsBeforeTheUpgrade(t *testing.T) {
	s := start(t, nil)
	for name, test := range map[string]struct {
		fault Fault
		code  int
		body  string
	}{
		"500": {Refuse(&lw.StatusError{Code: 500, Message: "boom"}), 500, `"message":"boom"`},
	} {
		t.Run(name, func(t *testing.T) {
			s.Fail(Watches, 1, test.fault)
			_, res, err := dial(t, s.URL+watchConfigMaps, "Origin", someOrigin)
			require.ErrorIs(t, err, websocket.ErrBadHandshake)
			require.Equal(t, test.code, res.StatusCode)
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.Contains(t, string(body), test.body)
		})
	}
	s.Fail(Watches, 1, hangUp)
	_, _, err := dial(t, s.URL+watchConfigMaps, "Origin", someOrigin)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestExpiredWatch(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 3)
	s.Fail(Watches, 2, Expire(2))
	w := openWatch(t, s.URL+watchConfigMaps)
	w.expect("ADDED cm-1", "ADDED cm-2")
	e := w.next()
	require.Equal(t, "ERROR Expired 410", fmt.Sprint(e.Type, " ", e.Object.Reason, " ", e.Object.Code))
	require.NoError(t, w.end())
	conn := openSocket(t, s.URL+watchConfigMaps)
	expectEvents(t, conn, "ADDED cm-1", "ADDED cm-2", "ERROR ")
	require.NoError(t, conn.Close())
}

func TestReplacedFrames(t *testing.T) {
	const text, binary, ping = websocket.TextMessage, websocket.BinaryMessage, websocket.PingMessage
	long := []byte(strings.Repeat("long", 1<<15))
	tests := map[string]struct {
		n    int
		with func(event []byte) ([]byte, bool)
		want func(t *testing.T, conn *websocket.Conn)
	}{
		"fragmented message": {1, func(e []byte) ([]byte, bool) {
			return append(append(newFragment(text, e[:9]), newFragment(0, nil)...), newFrame(0, e[9:])...), true
		}, func(t *testing.T, conn *websocket.Conn) {
			expectEvents(t, conn, "ADDED cm-1", "ADDED cm-2", "ADDED cm-3")
		}},
		"ping before the event": {0, func(e []byte) ([]byte, bool) {
			return append(newFrame(ping, []byte("you there?")), newFrame(text, e)...), true
		}, func(t *testing.T, conn *websocket.Conn) {
			pinged := ""
			conn.SetPingHandler(func(data string) error { pinged = data; return nil })
			expectEvents(t, conn, "ADDED cm-1", "ADDED cm-2", "ADDED cm-3")
			require.Equal(t, "you there?", pinged)
		}},
		"lost event": {1, func([]byte) ([]byte, bool) { return nil, true },
			func(t *testing.T, conn *websocket.Conn) { expectEvents(t, conn, "ADDED cm-1", "ADDED cm-3") }},
		"binary message": {0, func(e []byte) ([]byte, bool) { return newFrame(binary, e), true },
			func(t *testing.T, conn *websocket.Conn) {
				opcode, _, err := conn.ReadMessage()
				require.NoError(t, err)
				require.Equal(t, binary, opcode)
				expectEvents(t, conn, "ADDED cm-2")
			}},
		"message larger than the read limit": {0, func([]byte) ([]byte, bool) { return newFrame(text, long), true },
			func(t *testing.T, conn *websocket.Conn) {
				conn.SetReadLimit(1 << 10)
				require.Equal(t, websocket.ErrReadLimit, endOf(t, conn))
			}},
		"immediate close with code 1001 (going away)": {-1, func([]byte) ([]byte, bool) {
			return newFrame(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseGoingAway, "restart")), false
		}, func(t *testing.T, conn *websocket.Conn) {
			require.Equal(t, &websocket.CloseError{Code: websocket.CloseGoingAway, Text: "restart"}, endOf(t, conn))
		}},
		"close with code 1011 (internal error)": {1, func([]byte) ([]byte, bool) {
			return newFrame(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseInternalServerErr, "")), false
		},
			func(t *testing.T, conn *websocket.Conn) {
				expectEvents(t, conn, "ADDED cm-1")
				requireClosed(t, websocket.CloseInternalServerErr, conn)
			}},
		"half of a frame": {2, func(e []byte) ([]byte, bool) {
			frame := newFrame(text, e)
			return frame[:len(frame)/2], false
		}, func(t *testing.T, conn *websocket.Conn) {
			expectEvents(t, conn, "ADDED cm-1", "ADDED cm-2")
			_, part, err := conn.ReadMessage()
			require.True(t, cut(err), "%v", err)
			require.True(t, strings.HasPrefix(string(part), `{"type":"ADDED"`))
		}},
		"invalid JSON and a clean close": {2, func([]byte) ([]byte, bool) {
			return append(newFrame(text, []byte("this is not JSON }\n")), newFrame(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))...), false
		}, func(t *testing.T, conn *websocket.Conn) {
			expectEvents(t, conn, "ADDED cm-1", "ADDED cm-2")
			opcode, message, err := conn.ReadMessage()
			require.NoError(t, err)
			require.Equal(t, text, opcode)
			require.False(t, json.Valid(message))
			requireClosed(t, websocket.CloseNormalClosure, conn)
		}},
		"dropped connection": {1, func([]byte) ([]byte, bool) { return nil, false },
			func(t *testing.T, conn *websocket.Conn) {
				expectEvents(t, conn, "ADDED cm-1")
				require.True(t, cut(endOf(t, conn)))
			}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := start(t, nil)
			fill(t, s, 3)
			s.Fail(Watches, 1, ReplaceEvent(test.n, test.with))
			test.want(t, openSocket(t, s.URL+watchConfigMaps))
		})
	}
}

func TestReplaceEventIgnoresFailedHandshakes(t *testing.T) {
	s := start(t, &Options{Tokens: map[string]bool{"good": true}})
	s.Fail(nil, -1, ReplaceEvent(0, func([]byte) ([]byte, bool) { return nil, false }))
	_, res, err := dial(t, s.URL+watchConfigMaps, "Origin", someOrigin)
	require.ErrorIs(t, err, websocket.ErrBadHandshake)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), `"reason":"Forbidden"`)
}

// newFragment returns a frame without the FIN bit, so the message continues in the next frame.
func newFragment(opcode byte, payload []byte) []byte {
	frame := newFrame(opcode, payload)
	frame[0] &^= 0x80
	return frame
}

func TestFramesOfEveryLength(t *testing.T) {
	for _, n := range []int{0, 1, 125, 126, 1<<16 - 1, 1 << 16, 1 << 17} {
		s := start(t, nil)
		s.Fail(Watches, 1, ReplaceEvent(-1, func([]byte) ([]byte, bool) {
			return newFrame(websocket.BinaryMessage, make([]byte, n)), false
		}))
		opcode, payload, err := openSocket(t, s.URL+watchConfigMaps).ReadMessage()
		require.NoError(t, err)
		require.Equal(t, websocket.BinaryMessage, opcode)
		require.Len(t, payload, n)
	}
}
