package ws_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// If a server requests client certificates, Chrome cancels the first WebSocket handshake. The transport must try again.
func TestFirstHandshakeMayFail(t *testing.T) {
	text, err := follow(t, dial(t, nil), "/once/1000", url.Values{"name": {t.Name()}, "say": {"one"}})
	require.NoError(t, err)
	require.Equal(t, "one", text)
}

// A raw path can contain timeoutSeconds, too. The HTTP request after a rejected handshake must keep the rest of the query.
func TestProbeKeepsRawQuery(t *testing.T) {
	query := "say=one&timeoutSeconds=9&name=" + t.Name() + "&timeoutSeconds=83"
	body, err := dial(t, nil).Open(t.Context(), &lw.Request{Path: "/once/1000", Query: query, Watch: true})
	require.NoError(t, err)
	require.NoError(t, body.Close())
}
