package http_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/wire"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// The tests in this file also run in WebAssembly, where the transport uses fetch instead of net/http.

func TestMain(m *testing.M) { leak.Main(m) }

func dial(t *testing.T, opts *lwhttp.Options) *lwhttp.Transport {
	t.Helper()
	transport, err := lwhttp.New(wire.URL(t), opts)
	require.NoError(t, err)
	t.Cleanup(transport.Close)
	return transport
}

// ask sends a request and returns the whole response body.
func ask(t *testing.T, transport *lwhttp.Transport, req *lw.Request) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	body, err := transport.Open(ctx, req)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(body)
	require.NoError(t, body.Close())
	return string(text), err
}

// eventually requests a path until want returns true for the number in the response. It fails the test after a minute.
func eventually(t *testing.T, transport *lwhttp.Transport, path string, want func(int) bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		text, err := ask(t, transport, &lw.Request{Path: path})
		require.NoError(t, err)
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		if want(n) {
			return
		}
		require.True(t, time.Now().Before(end), "%s still returns %d after a minute", path, n)
	}
}

func is(want int) func(int) bool { return func(n int) bool { return n == want } }

func TestRequestsOnTheWire(t *testing.T) {
	transport := dial(t, &lwhttp.Options{Token: "secret", Header: map[string][]string{"Impersonate-User": {"jane"}}})
	text, err := ask(t, transport, &lw.Request{Path: "/echo", Query: "limit=5", Accept: "application/json;as=Table"})
	require.NoError(t, err)
	var seen wire.Request
	require.NoError(t, json.Unmarshal([]byte(text), &seen))
	require.Equal(t, "/echo?limit=5", seen.URL)
	require.Equal(t, []string{"Bearer secret"}, seen.Header["Authorization"])
	require.Equal(t, []string{"application/json;as=Table"}, seen.Header["Accept"])
	require.Equal(t, []string{"jane"}, seen.Header["Impersonate-User"])

	text, err = ask(t, transport, &lw.Request{Path: "/echo", Query: "watch=1", Watch: true})
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(text), &seen))
	require.Equal(t, "/echo?watch=1", seen.URL)
	require.Equal(t, []string{"application/json"}, seen.Header["Accept"])
	if !strings.HasPrefix(seen.Header["User-Agent"][0], "Mozilla") { // a browser does not allow another User-Agent
		require.Equal(t, []string{"identity"}, seen.Header["Accept-Encoding"])
	}
}

func TestErrorResponsesAreTyped(t *testing.T) {
	for code, want := range map[int]error{
		401: lw.ErrUnauthorized, 403: lw.ErrForbidden, 404: lw.ErrNotFound, 410: lw.ErrExpired, 429: lw.ErrTooManyRequests,
	} {
		_, err := ask(t, dial(t, nil), &lw.Request{Path: "/status/" + strconv.Itoa(code), Watch: true})
		require.ErrorIs(t, err, want)
		rejected, ok := errors.AsType[*lw.StatusError](err)
		require.True(t, ok)
		require.Equal(t, 7*time.Second, rejected.RetryAfter)
		require.Equal(t, "because", rejected.Message)
	}
}

func TestUnchangedResourceIsNotSentAgain(t *testing.T) {
	transport := dial(t, nil)
	first, err := transport.Open(t.Context(), &lw.Request{Path: "/etag"})
	require.NoError(t, err)
	defer first.Close()
	require.Equal(t, `"v1"`, first.ETag)
	for range 2 {
		_, err = transport.Open(t.Context(), &lw.Request{Path: "/etag", IfNoneMatch: first.ETag})
		require.ErrorIs(t, err, lw.ErrNotModified)
	}
	text, err := ask(t, transport, &lw.Request{Path: "/etag", IfNoneMatch: `"v0"`})
	require.NoError(t, err)
	require.Equal(t, "the document", text)
}

// No request asks for a range, so a partial response must not count as the complete list.
func TestPartialResponsesAreErrors(t *testing.T) {
	for _, watch := range []bool{false, true} {
		_, err := ask(t, dial(t, nil), &lw.Request{Path: "/status/206", Watch: watch})
		rejected, ok := errors.AsType[*lw.StatusError](err)
		require.True(t, ok, "%v", err)
		require.EqualError(t, rejected, "the server answered 206 PartialContent: the response is only a part of the resource")
	}
}

func TestTokenIsRequestedAgainOnce(t *testing.T) {
	tokens, asked := []string{"stale", "fresh"}, 0
	transport := dial(t, &lwhttp.Options{TokenFunc: func(context.Context) (string, error) {
		asked++
		return tokens[min(asked, len(tokens))-1], nil
	}})
	text, err := ask(t, transport, &lw.Request{Path: "/token"})
	require.NoError(t, err)
	require.Equal(t, "welcome", text)
	require.Equal(t, 2, asked)

	tokens, asked = []string{"stale", "staler", "fresh"}, 0
	_, err = ask(t, transport, &lw.Request{Path: "/token"})
	require.ErrorIs(t, err, lw.ErrUnauthorized)
	require.Equal(t, 2, asked)

	failure := errors.New("the token store is locked")
	_, err = ask(t, dial(t, &lwhttp.Options{TokenFunc: func(context.Context) (string, error) { return "", failure }}), &lw.Request{Path: "/token"})
	require.ErrorIs(t, err, failure)
}

func TestInvalidTokens(t *testing.T) {
	_, err := lwhttp.New("http://127.0.0.1", &lwhttp.Options{Token: "secret\nsecret"})
	require.EqualError(t, err, "http: the token contains an invalid character")
	given := func(context.Context) (string, error) { return "secret\nsecret", nil }
	_, err = ask(t, dial(t, &lwhttp.Options{TokenFunc: given}), &lw.Request{Path: "/echo"})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
}

func TestChunksAreJoined(t *testing.T) {
	long := strings.Repeat("a chunk of the body ", 200)
	text, err := ask(t, dial(t, nil), &lw.Request{Path: "/parts", Query: "say=one&say=&say=zw%C3%B6lf&say=" + strings.ReplaceAll(long, " ", "+")})
	require.NoError(t, err)
	require.Equal(t, "onezwölf"+long, text)
	text, err = ask(t, dial(t, nil), &lw.Request{Path: "/parts"})
	require.NoError(t, err)
	require.Empty(t, text)
}

func TestBrokenBodies(t *testing.T) {
	text, err := ask(t, dial(t, nil), &lw.Request{Path: "/parts", Query: "say=one&cut", Watch: true})
	if text != "" || runtime.GOOS != "js" { // a browser may report the error without the data before the error
		require.Equal(t, "one", text)
	}
	require.Error(t, err)
	require.NotErrorIs(t, err, io.EOF)

	_, err = ask(t, dial(t, nil), &lw.Request{Path: "/parts", Query: "cut"})
	require.Error(t, err)
}

func TestSlowReaderBlocksServer(t *testing.T) {
	transport := dial(t, nil)
	body, err := transport.Open(t.Context(), &lw.Request{Path: "/endless", Watch: true})
	require.NoError(t, err)
	defer body.Close()
	_, err = io.ReadFull(body, make([]byte, 1<<20))
	require.NoError(t, err)
	before, same := -1, 0
	eventually(t, transport, "/sent", func(n int) bool { // waits until the server is blocked and the number of sent bytes no longer changes
		if same++; n != before {
			before, same = n, 0
		}
		return same == 50
	})
	require.Less(t, before, 128<<20) // Chromium buffers 64 MiB
	_, err = io.ReadFull(body, make([]byte, before))
	require.NoError(t, err, "reading must unblock the server")
}

func TestCancellationEndsRequest(t *testing.T) {
	enough := errors.New("enough")
	transport := dial(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	body, err := transport.Open(ctx, &lw.Request{Path: "/silent", Watch: true})
	require.NoError(t, err)
	defer body.Close()
	eventually(t, transport, "/waiting", is(1))
	go cancel(enough)
	_, err = body.Read(make([]byte, 1))
	require.Equal(t, enough, err)
	require.NoError(t, body.Close())
	eventually(t, transport, "/waiting", is(0))

	_, err = transport.Open(ctx, &lw.Request{Path: "/echo"})
	require.Equal(t, enough, err)
}

func TestCloseEndsRequest(t *testing.T) {
	transport := dial(t, nil)
	body, err := transport.Open(t.Context(), &lw.Request{Path: "/silent", Watch: true})
	require.NoError(t, err)
	done := make(chan error)
	go func() {
		_, err := body.Read(make([]byte, 1))
		done <- err
	}()
	eventually(t, transport, "/waiting", is(1))
	require.NoError(t, body.Close())
	require.Error(t, <-done)
	eventually(t, transport, "/waiting", is(0))
}

// The errors must not contain the URL, because it may contain a password.
func TestInvalidServersAndOptions(t *testing.T) {
	for _, server := range []string{"", "host", "ftp://host", "https://", "http:///path", "https://user:secret@host", "https://host?secret", "https://host#secret"} {
		_, err := lwhttp.New(server, nil)
		require.ErrorContains(t, err, "http: the server's URL", "%q", server)
		require.NotContains(t, err.Error(), "secret")
	}
	_, err := lwhttp.New("https://host", &lwhttp.Options{Token: "a", TokenFunc: func(context.Context) (string, error) { return "", nil }})
	require.ErrorContains(t, err, "only one of")
}

// A gateway may serve the Kubernetes API under a path.
func TestServerPathPrefix(t *testing.T) {
	for _, slash := range []string{"", "/"} {
		transport, err := lwhttp.New(wire.URL(t)+"/status"+slash, nil)
		require.NoError(t, err)
		_, err = ask(t, transport, &lw.Request{Path: "/410"})
		require.ErrorIs(t, err, lw.ErrExpired)
		transport.Close()
	}
}
