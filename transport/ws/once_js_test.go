package ws_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// Chrome cancels the first handshake with a server that requests client certificates until another request was made.
func TestFirstHandshakeMayFail(t *testing.T) {
	text, err := follow(t, dial(t, nil), "/once", url.Values{"name": {t.Name()}, "say": {"one"}, "close": {"1000"}})
	require.NoError(t, err)
	require.Equal(t, "one", text)
}
