package lwtest

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCORSHeaders(t *testing.T) {
	const allowed, foreign = "http://app.example", "http://other.example"
	s := start(t, &Options{Tokens: map[string]bool{"good": true}, AllowedOrigins: []string{allowed}})
	tests := map[string]struct {
		method, origin, token string
		code                  int
		allowOrigin           string
	}{
		"preflight from an allowed origin":          {"OPTIONS", allowed, "", 204, allowed},
		"request from an allowed origin":            {"GET", allowed, "good", 200, allowed},
		"rejected request":                          {"GET", allowed, "wrong", 401, allowed},
		"preflight from another origin":             {"OPTIONS", foreign, "", 403, ""},
		"request from another origin":               {"GET", foreign, "good", 200, ""},
		"request without an origin":                 {"GET", "", "good", 200, ""},
		"origin that starts with an allowed origin": {"OPTIONS", allowed + ".evil", "", 403, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			headers := []string{"Authorization", "Bearer " + test.token}
			if test.token == "" {
				headers = nil
			}
			if test.origin != "" {
				headers = append(headers, "Origin", test.origin)
			}
			a := request(t, test.method, s.URL+configMaps, "", headers...)
			require.Equal(t, test.code, a.Code, a.Body)
			require.Equal(t, test.allowOrigin, a.Header.Get("Access-Control-Allow-Origin"))
			if test.allowOrigin != "" {
				require.Equal(t, "true", a.Header.Get("Access-Control-Allow-Credentials"))
				require.Contains(t, a.Header.Get("Access-Control-Allow-Headers"), "Authorization")
				require.Equal(t, "Date", a.Header.Get("Access-Control-Expose-Headers"))
			}
		})
	}
	require.Len(t, s.Requests(func(r Request) bool { return r.Method == http.MethodOptions }), 2, "Requests() must include the rejected OPTIONS requests, but no preflights")
}

func TestOpenListsActiveWatches(t *testing.T) {
	s := start(t, nil)
	require.Empty(t, s.Open(nil))
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	left, err := rawRequest(ctx, "GET", s.URL+watchConfigMaps, "")
	require.NoError(t, err)
	defer left.Body.Close()
	openWatch(t, s.URL+watchConfigMaps)
	require.Len(t, s.Open(Watches), 2)
	require.Empty(t, s.Open(Lists))
	leave()
	requireEventually(t, "the watch must open", func() bool { return len(s.Open(Watches)) == 1 })
	s.CloseWatches()
	requireEventually(t, "the watch must end", func() bool { return len(s.Open(nil)) == 0 })
}
