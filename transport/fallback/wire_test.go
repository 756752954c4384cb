package fallback

import (
	"io"
	"testing"

	server "github.com/seed-6d2a410a/listwatch/internal/testkit/wire"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/ws"
	"github.com/stretchr/testify/require"
)

func TestETagPassesThroughFallback(t *testing.T) {
	base, err := lwhttp.New(server.URL(t), nil)
	require.NoError(t, err)
	defer base.Close()
	transport := New(base, ws.New(base))
	response, err := transport.Open(t.Context(), &lw.Request{Path: "/etag"})
	require.NoError(t, err)
	defer response.Close()
	require.Equal(t, `"v1"`, response.ETag)
	_, err = transport.Open(t.Context(), &lw.Request{Path: "/etag", IfNoneMatch: response.ETag})
	require.ErrorIs(t, err, lw.ErrNotModified)
}

// An error response over HTTP must not cause a WebSocket handshake. In a browser, the handshake would send the token as
// a subprotocol.
func TestErrorResponsesAreNotRepeatedOverWebSocket(t *testing.T) {
	base, err := lwhttp.New(server.URL(t), &lwhttp.Options{Token: "s3cret"})
	require.NoError(t, err)
	defer base.Close()
	handshakes := func() string {
		body, err := base.Open(t.Context(), &lw.Request{Path: "/handshakes"})
		require.NoError(t, err)
		defer body.Close()
		text, err := io.ReadAll(body)
		require.NoError(t, err)
		return string(text)
	}
	before := handshakes()
	for path, want := range map[string]error{"/status/401": lw.ErrUnauthorized, "/status/403": lw.ErrForbidden, "/status/404": lw.ErrNotFound} {
		_, err := New(base, ws.New(base)).Open(t.Context(), &lw.Request{Path: path, Watch: true})
		require.ErrorIs(t, err, want)
	}
	require.Equal(t, before, handshakes())
	_, err = New(base, ws.New(base)).Open(t.Context(), &lw.Request{Path: "/status/400", Watch: true})
	require.Error(t, err)
	require.NotEqual(t, before, handshakes(), "after a 400 response, the client must try WebSocket")
}
