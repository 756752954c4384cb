package ws_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/canary"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/wire"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/fallback"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/ws"
	"github.com/stretchr/testify/require"
)

// In a browser, the WebSocket subprotocol contains the token in base64. This encoding must be redacted, too.
func TestEchoedTokensAreRedacted(t *testing.T) {
	secrets := canary.Secrets{}
	base, err := lwhttp.New(wire.URL(t), &lwhttp.Options{Token: secrets.New("token")})
	require.NoError(t, err)
	defer base.Close()
	socket := ws.New(base)
	for name, c := range map[string]struct {
		transport lw.Transport
		paths     []string
	}{
		"http":                      {base, []string{"/status/403", "/status/500", "/event"}},
		"ws":                        {socket, []string{"/status/403", "/status/500", "/event", "/ws/1011"}},
		"fallback, HTTP first":      {fallback.New(base, socket), []string{"/status/403", "/status/500", "/event"}},
		"fallback, WebSocket first": {fallback.New(socket, base), []string{"/status/403", "/status/500", "/event", "/ws/1011"}},
	} {
		for _, path := range c.paths {
			err := firstError(t, c.transport, path)
			text := fmt.Sprintf("%v %+v", err, err)
			if status, ok := errors.AsType[*lw.StatusError](err); ok {
				type fields lw.StatusError // fields has no method Error, so fmt prints all fields
				text += fmt.Sprintf("%+v", fields(*status))
				require.NotEmpty(t, status.Name)
			} else {
				require.Equal(t, "/ws/1011", path)
			}
			require.Contains(t, text, "…", name+path)
			secrets.Absent(t, name+path, text)
		}
	}
}

// firstError starts a watch and returns its first error.
func firstError(t *testing.T, transport lw.Transport, path string) error {
	client, err := lw.NewClient(transport, lw.Resource{Raw: path}, lw.RawCodec{}, nil)
	require.NoError(t, err)
	read := 0
	ctx := lw.WithTrace(t.Context(), &lw.Trace{Read: func(n int) { read += n }}) // the client wraps the body if Trace.Read is set
	for _, err := range client.Watch(ctx, lw.ListOptions{ResourceVersion: "1"}) {
		if err != nil {
			return err
		}
	}
	require.Fail(t, "the watch ended without an error", path)
	return nil
}
