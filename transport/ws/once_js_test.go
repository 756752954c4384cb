package ws_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFirstHandshakeMayFail, as it does in Chrome with a server that asks for client certificates, until a request was made.
func TestFirstHandshakeMayFail(t *testing.T) {
	text, err := follow(t, dial(t, nil, nil), "/once", url.Values{"name": {t.Name()}, "say": {"one"}, "close": {"1000"}})
	require.NoError(t, err)
	require.Equal(t, "one", text)
}
