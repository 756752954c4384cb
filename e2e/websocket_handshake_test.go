package e2e

import (
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

const tokenPrefix = "base64url.bearer.authorization.k8s.io."

func subprotocol(token string) string {
	return tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(token))
}

func tryHandshakes(t *testing.T, w *watched) {
	const origin, authorization, protocol = "Origin", "Authorization", "Sec-Websocket-Protocol"
	bearer, token := "Bearer "+w.admin, subprotocol(w.admin)
	padded := tokenPrefix + base64.URLEncoding.EncodeToString([]byte(w.admin))
	require.Contains(t, padded, "=")
	tests := map[string]struct {
		path   string
		header []string
		code   int
		answer string // subprotocol of a 101 response, or reason in a Status; "bare" means no headers and no body
	}{
		"token in a header":           {shortWatch, []string{origin, someOrigin, authorization, bearer}, 101, ""},
		"file origin":                 {shortWatch, []string{origin, "file://", authorization, bearer}, 101, ""},
		"origin without a scheme":     {shortWatch, []string{origin, "word", authorization, bearer}, 403, "bare"},
		"no origin":                   {shortWatch, []string{authorization, bearer}, 403, "bare"},
		"origin null":                 {shortWatch, []string{origin, "null", authorization, bearer}, 403, "bare"},
		"one subprotocol":             {shortWatch, []string{origin, someOrigin, authorization, bearer, protocol, "a"}, 101, "a"},
		"two subprotocols":            {shortWatch, []string{origin, someOrigin, authorization, bearer, protocol, "a, b"}, 400, "bare"},
		"two subprotocol headers":     {shortWatch, []string{origin, someOrigin, authorization, bearer, protocol, "a", protocol, "b"}, 101, "a"},
		"token as subprotocol":        {shortWatch, []string{origin, someOrigin, protocol, token + ", a"}, 101, "a"},
		"token as second subprotocol": {shortWatch, []string{origin, someOrigin, protocol, "a, " + token}, 101, "a"},
		"token and other subprotocol in separate headers":         {shortWatch, []string{origin, someOrigin, protocol, token, protocol, "a"}, 101, "a"},
		"token as the only subprotocol":                           {shortWatch, []string{origin, someOrigin, protocol, token}, 401, "Unauthorized"},
		"token and two other subprotocols":                        {shortWatch, []string{origin, someOrigin, protocol, token + ", a, b"}, 400, "bare"},
		"token twice among the subprotocols":                      {shortWatch, []string{origin, someOrigin, protocol, token + ", a, " + token}, 401, "Unauthorized"},
		"padded token as subprotocol":                             {shortWatch, []string{origin, someOrigin, protocol, padded + ", a"}, 401, "Unauthorized"},
		"unknown token as subprotocol":                            {shortWatch, []string{origin, someOrigin, protocol, subprotocol("x") + ", a"}, 401, "Unauthorized"},
		"empty token as subprotocol":                              {shortWatch, []string{origin, someOrigin, protocol, tokenPrefix + ", a"}, 403, "Forbidden"},
		"token without permissions as subprotocol":                {shortWatch, []string{origin, someOrigin, protocol, subprotocol(w.nobody) + ", a"}, 403, "Forbidden"},
		"unknown token in a header":                               {shortWatch, []string{origin, someOrigin, authorization, "Bearer x"}, 401, "Unauthorized"},
		"token without permissions in a header":                   {shortWatch, []string{origin, someOrigin, authorization, "Bearer " + w.nobody}, 403, "Forbidden"},
		"no token":                                                {shortWatch, []string{origin, someOrigin}, 403, "Forbidden"},
		"token in the header and as the only subprotocol":         {shortWatch, []string{origin, someOrigin, authorization, bearer, protocol, token}, 101, token},
		"token in the header and as subprotocol":                  {shortWatch, []string{origin, someOrigin, authorization, bearer, protocol, token + ", a"}, 400, "bare"},
		"unknown token in the header, valid token as subprotocol": {shortWatch, []string{origin, someOrigin, authorization, "Bearer x", protocol, token + ", a"}, 101, "a"},
		"valid token in the header, unknown token as subprotocol": {shortWatch, []string{origin, someOrigin, authorization, bearer, protocol, subprotocol("x")}, 101, subprotocol("x")},
		"list":                               {configMaps, []string{origin, someOrigin, authorization, bearer}, 200, ""},
		"list without an origin":             {configMaps, []string{authorization, bearer}, 200, ""},
		"list with the token as subprotocol": {configMaps, []string{protocol, token + ", a"}, 200, ""},
		"watch=0":                            {configMaps + "?watch=0", []string{origin, someOrigin, authorization, bearer}, 200, ""},
		"watch of a missing object":          {configMaps + "/nothing?watch=1", []string{origin, someOrigin, authorization, bearer}, 404, "NotFound"},
		"invalid resourceVersion":            {shortWatch + "&resourceVersion=x", []string{origin, someOrigin, authorization, bearer}, 500, ""},
		"unsupported media type":             {shortWatch, []string{origin, someOrigin, authorization, bearer, "Accept", "application/cbor"}, 406, "NotAcceptable"},
		"token is checked before the origin": {shortWatch, []string{authorization, "Bearer x"}, 401, "Unauthorized"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, res, err := w.dial(t, test.path, test.header...)
			require.NotNil(t, res, "%v", err)
			require.Equal(t, test.code, res.StatusCode)
			if test.code == http.StatusSwitchingProtocols {
				require.NoError(t, err)
				requireUpgraded(t, res, test.answer)
				closed(t, conn) // the server closes the watch at its timeout
				return
			}
			require.ErrorIs(t, err, websocket.ErrBadHandshake)
			requireRefused(t, res, test.answer)
		})
	}
}

// requireUpgraded checks that the response has only the headers of a WebSocket upgrade, with the given subprotocol.
func requireUpgraded(t *testing.T, res *http.Response, protocol string) {
	t.Helper()
	want := http.Header{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}, "Sec-Websocket-Accept": res.Header["Sec-Websocket-Accept"]}
	if protocol != "" {
		want["Sec-Websocket-Protocol"] = []string{protocol}
	}
	require.Equal(t, want, res.Header)
}

func requireRefused(t *testing.T, res *http.Response, reason string) {
	t.Helper()
	text, err := io.ReadAll(res.Body) // gorilla's client returns only the first 1,024 bytes
	require.NoError(t, err)
	if reason == "bare" {
		require.Empty(t, res.Header)
		require.Empty(t, text)
		return
	}
	require.Equal(t, "application/json", res.Header.Get("Content-Type"))
	if reason != "" {
		require.Contains(t, strings.ReplaceAll(string(text), `": "`, `":"`), `"reason":"`+reason+`"`)
	}
}

// tryMalformed sends handshakes that gorilla's client cannot produce.
func tryMalformed(t *testing.T, w *watched) {
	for name, header := range map[string][]string{
		"no Sec-WebSocket-Key":      {"Sec-Websocket-Version", "13"},
		"outdated protocol version": {"Sec-Websocket-Version", "8", "Sec-Websocket-Key", "MDEyMzQ1Njc4OWFiY2RlZg=="},
	} {
		t.Run(name, func(t *testing.T) {
			header = append(header, "Connection", "Upgrade", "Upgrade", "websocket", "Origin", someOrigin)
			require.Equal(t, http.StatusBadRequest, w.do(t, http.MethodGet, shortWatch, "", header...).StatusCode)
		})
	}
}
