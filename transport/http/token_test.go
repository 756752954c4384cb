//go:build !js

package http_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// authorized returns a transport with a fake network, and a pointer to the Authorization headers that were sent.
func authorized(t *testing.T, opts *lwhttp.Options) (transport *lwhttp.Transport, sent *[]string) {
	t.Helper()
	sent = new([]string)
	opts.Client = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		*sent = append(*sent, r.Header.Get("Authorization"))
		return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
	})}
	transport, err := lwhttp.New("https://k8s.example", opts)
	require.NoError(t, err)
	return transport, sent
}

func TestStaticToken(t *testing.T) {
	transport, sent := authorized(t, &lwhttp.Options{Token: "s3cret"})
	_, err := get(t, transport, pods)
	require.NoError(t, err)
	require.Equal(t, []string{"Bearer s3cret"}, *sent)
}

// TokenFunc must receive the context of the request. If TokenFunc fails, the transport must not send the request.
func TestTokenFuncIsCalledPerRequest(t *testing.T) {
	type key struct{}
	failure := errors.New("the token is unavailable")
	calls := 0
	transport, sent := authorized(t, &lwhttp.Options{TokenFunc: func(ctx context.Context) (string, error) {
		calls++
		require.Equal(t, "here", ctx.Value(key{}))
		if calls == 3 {
			return "", failure
		}
		return "token-" + strconv.Itoa(calls), nil
	}})
	ctx := context.WithValue(t.Context(), key{}, "here")
	for range 2 {
		body, err := transport.Open(ctx, pods)
		require.NoError(t, err)
		require.NoError(t, body.Close())
	}
	_, err := transport.Open(ctx, pods)
	require.ErrorIs(t, err, failure)
	require.Equal(t, []string{"Bearer token-1", "Bearer token-2"}, *sent)
}

// Kubernetes replaces the token of a Pod long before the old token expires, so reading the file once a minute is
// enough.
func TestTokenFileRotates(t *testing.T) {
	directory := t.TempDir()
	path := write(t, directory, "token", []byte("first\n"))
	synctest.Test(t, func(t *testing.T) {
		transport, sent := authorized(t, &lwhttp.Options{TokenFile: path})
		request := func() error {
			_, err := get(t, transport, pods)
			return err
		}
		require.NoError(t, request())
		write(t, directory, "token", []byte(" second \n"))
		time.Sleep(time.Minute - time.Nanosecond)
		require.NoError(t, request())
		time.Sleep(time.Nanosecond)
		require.NoError(t, request())
		require.Equal(t, []string{"Bearer first", "Bearer first", "Bearer second"}, *sent)

		for _, breakIt := range []func(){
			func() { write(t, directory, "token", []byte("\n")) },
			func() { require.NoError(t, os.Remove(path)) },
		} {
			time.Sleep(time.Minute)
			breakIt()
			*sent = nil
			require.NoError(t, request())
			require.Equal(t, []string{"Bearer second"}, *sent, "the transport must keep the previous token while the file is empty or missing")
		}
		write(t, directory, "token", []byte("third"))
		time.Sleep(time.Minute)
		require.NoError(t, request())
		require.Equal(t, []string{"Bearer second", "Bearer third"}, *sent)
	})
}
