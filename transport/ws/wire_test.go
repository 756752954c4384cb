package ws_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/wire"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/ws"
	"github.com/stretchr/testify/require"
)

// The tests in this file run with gorilla/websocket, and in WebAssembly with the browser's WebSocket.

func TestMain(m *testing.M) { leak.Main(m) }

func dial(t *testing.T, opts *lwhttp.Options) lw.Transport {
	t.Helper()
	transport, err := lwhttp.New(wire.URL(t), opts)
	require.NoError(t, err)
	t.Cleanup(transport.Close)
	return ws.New(transport)
}

// follow reads a watch to its end. It returns the received text and the final error.
func follow(t *testing.T, transport lw.Transport, path string, query url.Values) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	body, err := transport.Open(ctx, &lw.Request{Path: path, Query: query.Encode(), Watch: true})
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(body)
	require.NoError(t, body.Close())
	return string(text), err
}

func TestTextAndBinaryMessages(t *testing.T) {
	long := strings.Repeat("lang wie öd ", 5000)
	for _, query := range []url.Values{{}, {"binary": {""}}} {
		query["say"] = []string{"one\n", "zwölf", "", long}
		text, err := follow(t, dial(t, nil), "/ws/1000", query)
		require.NoError(t, err)
		require.Equal(t, "one\n\nzwölf\n\n"+long, text)
	}
}

func TestEndErrors(t *testing.T) {
	for code, want := range map[int]error{
		0: io.ErrUnexpectedEOF, 1000: nil,
		1001: errors.New("the server closed the WebSocket with code 1001: reason"),
		1011: errors.New("the server closed the WebSocket with code 1011: reason"),
	} {
		path := "/ws"
		if code != 0 {
			path += "/" + strconv.Itoa(code)
		}
		text, err := follow(t, dial(t, nil), path, url.Values{"say": {"one"}})
		require.Equal(t, "one", text)
		if code < 1001 {
			require.Equal(t, want, err)
		} else {
			require.EqualError(t, err, want.Error())
		}
	}
}

func TestOversizedMessages(t *testing.T) {
	query := url.Values{"say": {"small", strings.Repeat("x", 101)}}
	transport := dial(t, nil)
	ws.SetLimit(transport, 100)
	text, err := follow(t, transport, "/ws", query)
	require.Equal(t, "small", text)
	require.Equal(t, lw.ErrTooLarge, err)
}

// A browser does not report why a handshake was rejected. The errors must still have the same types as for other
// requests.
func TestRejectedHandshakes(t *testing.T) {
	for code, want := range map[int]error{
		401: lw.ErrUnauthorized, 403: lw.ErrForbidden, 404: lw.ErrNotFound, 410: lw.ErrExpired, 429: lw.ErrTooManyRequests,
	} {
		_, err := follow(t, dial(t, nil), "/status/"+strconv.Itoa(code), nil)
		require.ErrorIs(t, err, want)
		rejected, ok := errors.AsType[*lw.StatusError](err)
		require.True(t, ok)
		require.Equal(t, 7*time.Second, rejected.RetryAfter)
	}
	_, err := follow(t, dial(t, nil), "/parts", nil)
	require.ErrorContains(t, err, "the server or a proxy does not support")
	require.ErrorIs(t, err, errors.ErrUnsupported)

	_, err = follow(t, dial(t, nil), "/parts", url.Values{"cut": {""}})
	require.Error(t, err)
	require.NotErrorIs(t, err, errors.ErrUnsupported, "an unanswered handshake must not be reported as missing WebSocket support")
}

// A browser cannot set headers. It must send the token as a subprotocol, together with exactly one other subprotocol.
func TestTokenHeaderOrSubprotocol(t *testing.T) {
	text, err := follow(t, dial(t, &lwhttp.Options{Token: "a~b?"}), "/echo", nil)
	require.NoError(t, err)
	var seen wire.Request
	require.NoError(t, json.Unmarshal([]byte(text), &seen))
	if runtime.GOOS == "js" {
		require.Equal(t, []string{"base64url.bearer.authorization.k8s.io.YX5iPw", "listwatch.v1"}, seen.Protocols)
		require.NotContains(t, seen.Header, "Authorization")
	} else {
		require.Equal(t, []string{"Bearer a~b?"}, seen.Header["Authorization"])
		require.Empty(t, seen.Protocols)
	}

	text, err = follow(t, dial(t, nil), "/echo", nil)
	require.NoError(t, err)
	seen = wire.Request{}
	require.NoError(t, json.Unmarshal([]byte(text), &seen))
	require.Empty(t, seen.Protocols)
	require.Len(t, seen.Header["Origin"], 1, "the client must send an Origin header, because a kube-apiserver requires it")
}

func TestListsGoOverHTTP(t *testing.T) {
	body, err := dial(t, nil).Open(t.Context(), &lw.Request{Path: "/parts", Query: "say=list"})
	require.NoError(t, err)
	text, err := io.ReadAll(body)
	require.NoError(t, err)
	require.NoError(t, body.Close())
	require.Equal(t, "list", string(text))
}

func TestCancellationEndsWatch(t *testing.T) {
	enough := errors.New("enough")
	transport := dial(t, nil)
	waiting := func(want string) {
		t.Helper()
		require.Eventually(t, func() bool {
			body, err := transport.Open(t.Context(), &lw.Request{Path: "/waiting"})
			if err != nil {
				return false
			}
			defer body.Close()
			text, err := io.ReadAll(body)
			return err == nil && string(text) == want
		}, time.Minute, 10*time.Millisecond)
	}
	for _, end := range []func(context.CancelCauseFunc, io.Closer){
		func(cancel context.CancelCauseFunc, _ io.Closer) { cancel(enough) },
		func(_ context.CancelCauseFunc, body io.Closer) { _ = body.Close() },
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		body, err := transport.Open(ctx, &lw.Request{Path: "/ws", Query: "wait", Watch: true})
		require.NoError(t, err)
		done := make(chan error)
		go func() {
			_, err := body.Read(make([]byte, 1))
			done <- err
		}()
		waiting("1")
		end(cancel, body)
		err = <-done
		require.Error(t, err)
		if ctx.Err() != nil {
			require.Equal(t, enough, err)
		}
		require.NoError(t, body.Close())
		waiting("0")
		cancel(nil)
	}
}
