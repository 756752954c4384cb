//go:build !js

package http_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// tokenServer is a fake network that records the token of each request. It accepts only the token in the field good and
// rejects all others with 401. It redirects /to?URL to URL unless the token is "stale". If before is set, it is called
// before each response.
type tokenServer struct {
	good   string
	before func()
	sent   []string
	open   int // number of open response bodies
}

func (s *tokenServer) RoundTrip(r *http.Request) (*http.Response, error) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.sent = append(s.sent, token)
	if s.before != nil {
		s.before()
	}
	s.open++
	response := &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}, Body: &counted{strings.NewReader("who are you?"), &s.open}}
	switch {
	case r.URL.Path == "/to" && token != "stale":
		response.StatusCode = http.StatusFound
		response.Header.Set("Location", r.URL.RawQuery)
	case token == s.good:
		response.StatusCode = http.StatusOK
	}
	return response, nil
}

// counted is a response body whose Close method decrements the number of open bodies.
type counted struct {
	io.Reader
	open *int
}

func (c *counted) Close() error {
	*c.open--
	return nil
}

func (s *tokenServer) transport(t *testing.T, opts lwhttp.Options) *lwhttp.Transport {
	t.Helper()
	opts.Client = &http.Client{Transport: s}
	transport, err := lwhttp.New("https://k8s.example", &opts)
	require.NoError(t, err)
	return transport
}

// tokens returns a TokenFunc that returns the given tokens in order. For the token "!", it returns an error.
func tokens(each ...string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		token := each[0]
		each = each[1:]
		if token == "!" {
			return "", errors.New("pa55word store is locked")
		}
		return token, nil
	}
}

// Each case lists the tokens that the transport sends until the request succeeds or fails with a 401.
func TestUnauthorized(t *testing.T) {
	directory := t.TempDir()
	file := func(name, text string) string { return write(t, directory, name, []byte(text)) }
	cases := map[string]struct {
		opts   lwhttp.Options
		before func()
		path   string
		sent   []string
		ok     bool
	}{
		"no token":                                   {sent: []string{""}},
		"fixed token":                                {opts: lwhttp.Options{Token: "old"}, sent: []string{"old"}},
		"unchanged token file":                       {opts: lwhttp.Options{TokenFile: file("same", "old")}, sent: []string{"old"}},
		"token file with a new valid token":          {opts: lwhttp.Options{TokenFile: file("changed", "old")}, before: func() { file("changed", "new") }, sent: []string{"old", "new"}, ok: true},
		"token file with a new invalid token":        {opts: lwhttp.Options{TokenFile: file("worse", "old")}, before: func() { file("worse", "worse") }, sent: []string{"old", "worse"}},
		"emptied token file":                         {opts: lwhttp.Options{TokenFile: file("emptied", "old")}, before: func() { file("emptied", "") }, sent: []string{"old"}},
		"deleted token file":                         {opts: lwhttp.Options{TokenFile: file("gone", "old")}, before: func() { _ = os.Remove(directory + "/gone") }, sent: []string{"old"}},
		"TokenFunc that repeats the rejected token":  {opts: lwhttp.Options{TokenFunc: tokens("old", "old")}, sent: []string{"old"}},
		"TokenFunc with a new valid token":           {opts: lwhttp.Options{TokenFunc: tokens("old", "new")}, sent: []string{"old", "new"}, ok: true},
		"TokenFunc that returns no second token":     {opts: lwhttp.Options{TokenFunc: tokens("old", "")}, sent: []string{"old"}},
		"TokenFunc that returns no first token":      {opts: lwhttp.Options{TokenFunc: tokens("", "new")}, sent: []string{"", "new"}, ok: true},
		"TokenFunc that fails after a 401":           {opts: lwhttp.Options{TokenFunc: tokens("old", "!")}, sent: []string{"old"}},
		"TokenFunc that returns only invalid tokens": {opts: lwhttp.Options{TokenFunc: tokens("old", "older")}, sent: []string{"old", "older"}},
		"redirect within the origin":                 {opts: lwhttp.Options{TokenFunc: tokens("a", "old", "new")}, path: "/to?/x", sent: []string{"a", "old", "new"}, ok: true},
		"redirect with invalid tokens":               {opts: lwhttp.Options{TokenFunc: tokens("a", "b", "c")}, path: "/to?/x", sent: []string{"a", "b", "c"}},
		"401 before and after a redirect":            {opts: lwhttp.Options{TokenFunc: tokens("stale", "a", "old", "new")}, path: "/to?/x", sent: []string{"stale", "a", "old"}},
		"401 from another origin":                    {opts: lwhttp.Options{TokenFunc: tokens("old")}, path: "/to?https://other.example/x", sent: []string{"old", ""}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			network := &tokenServer{good: "new", before: c.before}
			path, query, _ := strings.Cut(c.path, "?")
			text, err := get(t, network.transport(t, c.opts), requestFor(path, query))
			require.Equal(t, c.sent, network.sent)
			require.Zero(t, network.open, "all response bodies must be closed")
			if c.ok {
				require.NoError(t, err)
				return
			}
			var status *lw.StatusError
			require.ErrorAs(t, err, &status, text)
			require.ErrorIs(t, err, lw.ErrUnauthorized)
			require.Equal(t, "who are you?", status.Message, "the message must come from the last response")
		})
	}
}

// A custom transport may return a 401 response without a body, or neither a response nor an error. Open must return an
// error.
func TestResponsesWithoutBody(t *testing.T) {
	for _, answer := range []*http.Response{{StatusCode: http.StatusUnauthorized}, nil} {
		sent := 0
		transport, err := lwhttp.New("https://k8s.example", &lwhttp.Options{TokenFunc: tokens("old", "new"), Client: &http.Client{
			Transport: roundTripper(func(*http.Request) (*http.Response, error) {
				sent++
				return answer, nil
			}),
		}})
		require.NoError(t, err)
		_, err = get(t, transport, pods)
		require.Equal(t, answer != nil, errors.Is(err, lw.ErrUnauthorized), err)
		require.Equal(t, answer != nil, sent == 2)
	}
}

// Even if the token file changes before every response, one call of Open must send at most two requests.
func TestRetriesUnauthorizedOnce(t *testing.T) {
	directory, writes := t.TempDir(), 0
	rotate := func() {
		writes++
		write(t, directory, "token", []byte(strconv.Itoa(writes)))
	}
	rotate()
	network := &tokenServer{good: "none", before: rotate}
	transport := network.transport(t, lwhttp.Options{TokenFile: directory + "/token"})
	for range 3 {
		_, err := get(t, transport, pods)
		require.ErrorIs(t, err, lw.ErrUnauthorized)
	}
	require.Equal(t, []string{"1", "2", "2", "4", "4", "6"}, network.sent)
}

func TestCancellationBeforeRetry(t *testing.T) {
	for name, asked := range map[string]int{"canceled during the request": 1, "canceled in TokenFunc": 2} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			calls := 0
			network := &tokenServer{}
			if asked == 1 {
				network.before = func() { cancel(errOurs) }
			}
			transport := network.transport(t, lwhttp.Options{TokenFunc: func(context.Context) (string, error) {
				if calls++; calls == 2 {
					cancel(errOurs)
				}
				return strconv.Itoa(calls), nil
			}})
			_, err := transport.Open(ctx, pods)
			require.Equal(t, errOurs, err)
			require.Equal(t, []string{"1"}, network.sent)
			require.Equal(t, asked, calls)
			require.Zero(t, network.open, "all response bodies must be closed")
		})
	}
}

// idler is a RoundTripper that counts calls of CloseIdleConnections.
type idler struct {
	tokenServer
	closed int
}

func (i *idler) CloseIdleConnections() { i.closed++ }

func TestCloseKeepsCallerClient(t *testing.T) {
	network := &idler{tokenServer: tokenServer{good: "x"}}
	transport, err := lwhttp.New("https://k8s.example", &lwhttp.Options{Client: &http.Client{Transport: network}, Token: "x"})
	require.NoError(t, err)
	_, err = get(t, transport, pods)
	require.NoError(t, err)
	transport.Close()
	require.Zero(t, network.closed)
}
