package ws_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// If a server requests client certificates, Chrome cancels the first WebSocket handshake. The transport must try again.
func TestFirstHandshakeMayFail(t *testing.T) {
	text, err := follow(t, dial(t, nil), "/once/1000", url.Values{"name": {t.Name()}, "say": {"one"}})
	require.NoError(t, err)
	require.Equal(t, "one", text)
}
