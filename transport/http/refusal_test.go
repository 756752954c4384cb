//go:build !js

package http_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// Error responses must become the matching errors. The bodies are copied from real servers.
func TestErrorResponses(t *testing.T) {
	const expired = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"The resourceVersion for the provided list is too old.","reason":"Expired","code":410}`
	const tooLarge = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: Too large resource version: 999999999, current: 232","reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":2},"code":504}`
	const forbidden = `{"kind":"Status","status":"Failure","message":"pods is forbidden","reason":"Forbidden","details":{"kind":"pods"},"code":403}`
	cases := map[string]struct {
		code             int
		retryAfter, body string
		is               error // sentinel error that the error must wrap, or nil
		reason, message  string
		wait             time.Duration
	}{
		"expired": {410, "", expired, lw.ErrExpired, "Expired", "The resourceVersion for the provided list is too old.", 0},
		"resourceVersion too large, retry delay in body":   {504, "", tooLarge, lw.ErrResourceVersionTooLarge, "Timeout", "Timeout: Too large resource version: 999999999, current: 232", 2 * time.Second},
		"resourceVersion too large, retry delay in header": {504, "1", tooLarge, lw.ErrResourceVersionTooLarge, "Timeout", "Timeout: Too large resource version: 999999999, current: 232", time.Second},
		"forbidden":                   {403, "", forbidden, lw.ErrForbidden, "Forbidden", "pods is forbidden", 0},
		"unauthorized without a body": {401, "", "", lw.ErrUnauthorized, "", "", 0},
		"unknown API group":           {404, "", "404 page not found\n", lw.ErrNotFound, "", "404 page not found", 0},
		"overloaded":                  {429, "7", "Too many requests, please try again later.\n", lw.ErrTooManyRequests, "", "Too many requests, please try again later.", 7 * time.Second},
		"HTML page from a proxy":      {502, "", "<html>\n<body>Bad Gateway</body></html>", nil, "", "<html>", 0},
		"redirect without a Location": {304, "", "", nil, "", "", 0},
	}
	bothProtocols(t, func(w http.ResponseWriter, r *http.Request) {
		c := cases[r.URL.Query().Get("case")]
		if c.retryAfter != "" {
			w.Header().Set("Retry-After", c.retryAfter)
		}
		w.WriteHeader(c.code)
		_, _ = io.WriteString(w, c.body)
	}, func(t *testing.T, _ *httptest.Server, transport *lwhttp.Transport) {
		for name, c := range cases {
			_, err := transport.Open(t.Context(), requestFor("/", "case="+url.QueryEscape(name)))
			var status *lw.StatusError
			require.ErrorAs(t, err, &status, name)
			require.Equal(t, c.code, status.Code, name)
			require.Equal(t, c.reason, status.Reason, name)
			require.Equal(t, c.message, status.Message, name)
			require.Equal(t, c.wait, status.RetryAfter, name)
			for _, sentinel := range []error{lw.ErrExpired, lw.ErrResourceVersionTooLarge, lw.ErrForbidden, lw.ErrUnauthorized, lw.ErrNotFound, lw.ErrTooManyRequests} {
				require.Equal(t, sentinel == c.is, errors.Is(err, sentinel), "%s: errors.Is with the target %v", name, sentinel)
			}
		}
	})
}

// The client must read only the start of an error response and then cancel the request.
func TestErrorBodyIsLimited(t *testing.T) {
	ended := make(chan struct{})
	bothProtocols(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "no ")
		}
		ended <- struct{}{}
	}, func(t *testing.T, _ *httptest.Server, transport *lwhttp.Transport) {
		_, err := get(t, transport, pods)
		<-ended
		var status *lw.StatusError
		require.ErrorAs(t, err, &status)
		require.Equal(t, http.StatusInternalServerError, status.Code)
		require.Less(t, len(status.Message), 1000)
	})
}
