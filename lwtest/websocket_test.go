package lwtest

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

const someOrigin = "https://app.example"

// dial opens a WebSocket without adding an origin or a token. Names and values alternate in header.
func dial(t testing.TB, url string, header ...string) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Add(header[i], header[i+1])
	}
	dialer := websocket.Dialer{HandshakeTimeout: testTimeout, EnableCompression: true} // offers compression, but the server must not accept it
	return dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(url, "http"), h)
}

// openSocket returns an open watch over WebSocket and closes it when the test ends.
func openSocket(t testing.TB, url string, header ...string) *websocket.Conn {
	t.Helper()
	conn, res, err := dial(t, url, append([]string{"Origin", someOrigin}, header...)...)
	require.NoError(t, err)
	require.Empty(t, res.Header.Get("Sec-Websocket-Extensions"))
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(testTimeout)))
	return conn
}

// expectEvents requires that the next TEXT messages are the events in want. Each string in want consists of a type and
// a name, for example "ADDED cm-1".
func expectEvents(t testing.TB, conn *websocket.Conn, want ...string) {
	t.Helper()
	for _, want := range want {
		opcode, text, err := conn.ReadMessage()
		require.NoError(t, err)
		require.Equal(t, websocket.TextMessage, opcode)
		require.Equal(t, byte('\n'), text[len(text)-1])
		var e event
		require.NoError(t, json.Unmarshal(text, &e), "%s", text)
		require.Equal(t, want, e.String())
	}
}

// endOf returns the error at the end of the connection. It fails the test if a message arrives first.
func endOf(t testing.TB, conn *websocket.Conn) error {
	t.Helper()
	_, text, err := conn.ReadMessage()
	require.Error(t, err, "unexpected message: %s", text)
	return err
}

func requireClosed(t testing.TB, code int, conn *websocket.Conn) {
	t.Helper()
	require.Equal(t, &websocket.CloseError{Code: code}, endOf(t, conn))
}

// cut reports whether a connection ended without a CLOSE frame.
func cut(err error) bool { return websocket.IsCloseError(err, websocket.CloseAbnormalClosure) }

func bearer(token string) string {
	return bearerProtocol + base64.RawURLEncoding.EncodeToString([]byte(token))
}

func TestHandshakes(t *testing.T) {
	s := start(t, &Options{Tokens: map[string]bool{"good": true, "poor": false}})
	const origin, authorization, protocol = "Origin", "Authorization", "Sec-Websocket-Protocol"
	padded := bearerProtocol + base64.URLEncoding.EncodeToString([]byte("good"))
	require.Contains(t, padded, "=")
	watch := watchConfigMaps + "&timeoutSeconds=1"
	tests := map[string]struct {
		path   string
		header []string
		code   int
		chosen string // selected subprotocol
	}{
		"token in a header":                      {watch, []string{origin, someOrigin, authorization, "Bearer good"}, 101, ""},
		"origin without a host":                  {watch, []string{origin, "file://", authorization, "Bearer good"}, 101, ""},
		"no origin":                              {watch, []string{authorization, "Bearer good"}, 403, ""},
		"origin null":                            {watch, []string{origin, "null", authorization, "Bearer good"}, 403, ""},
		"one subprotocol":                        {watch, []string{origin, someOrigin, authorization, "Bearer good", protocol, "a"}, 101, "a"},
		"two subprotocols":                       {watch, []string{origin, someOrigin, authorization, "Bearer good", protocol, "a, b"}, 400, ""},
		"token as subprotocol":                   {watch, []string{origin, someOrigin, protocol, bearer("good") + ", a"}, 101, "a"},
		"token subprotocol in a separate header": {watch, []string{origin, someOrigin, protocol, "a", protocol, bearer("good")}, 101, "a"},
		"token as the only subprotocol":          {watch, []string{origin, someOrigin, protocol, bearer("good")}, 401, ""},
		"token and two other subprotocols":       {watch, []string{origin, someOrigin, protocol, "a, " + bearer("good") + ", b"}, 400, ""},
		"duplicate token":                        {watch, []string{origin, someOrigin, protocol, bearer("good") + ", a, " + bearer("good")}, 401, ""},
		"padded token":                           {watch, []string{origin, someOrigin, protocol, padded + ", a"}, 401, ""},
		"unknown token":                          {watch, []string{origin, someOrigin, protocol, bearer("bad") + ", a"}, 401, ""},
		"token without permissions":              {watch, []string{origin, someOrigin, protocol, bearer("poor") + ", a"}, 403, ""},
		"no token":                               {watch, []string{origin, someOrigin}, 403, ""},
		"token in a header and as subprotocol":   {watch, []string{origin, someOrigin, authorization, "Bearer good", protocol, bearer("good") + ", a"}, 400, ""},
		"invalid token in a header, valid token as subprotocol": {watch, []string{origin, someOrigin, authorization, "Bearer bad", protocol, bearer("good") + ", a"}, 101, "a"},
		"list":                               {configMaps, []string{origin, someOrigin, authorization, "Bearer good"}, 200, ""},
		"list with the token as subprotocol": {configMaps, []string{protocol, bearer("good") + ", a"}, 200, ""},
		"invalid resourceVersion":            {watch + "&resourceVersion=x", []string{authorization, "Bearer good"}, 500, ""},
		"unsupported media type":             {watch, []string{authorization, "Bearer good", "Accept", "application/cbor"}, 406, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			conn, res, err := dial(t, s.URL+test.path, test.header...)
			require.Equal(t, test.code, res.StatusCode)
			if test.code != http.StatusSwitchingProtocols {
				require.ErrorIs(t, err, websocket.ErrBadHandshake)
				return
			}
			require.NoError(t, err)
			defer conn.Close()
			require.Equal(t, test.chosen, conn.Subprotocol())
			requireClosed(t, websocket.CloseNormalClosure, conn)
		})
	}
}

func TestRejectedUpgradesHaveNoBody(t *testing.T) {
	s := start(t, nil)
	for _, header := range [][]string{nil, {"Origin", "null"}, {"Origin", someOrigin, "Sec-Websocket-Protocol", "a, b"}} {
		_, res, err := dial(t, s.URL+watchConfigMaps, header...)
		require.ErrorIs(t, err, websocket.ErrBadHandshake)
		require.Empty(t, res.Header)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Empty(t, body)
	}
}
