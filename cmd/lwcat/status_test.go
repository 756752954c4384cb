package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMessagesAreSanitized checks that text from the server cannot control the terminal, start a line or fill the
// screen.
func TestMessagesAreSanitized(t *testing.T) {
	var out strings.Builder
	s := &status{out: &out}
	s.logf("%s", "a\nlwcat: b\r\x1b[2J\x07\u009b\u202e")
	require.Equal(t, "lwcat: a lwcat: b\ufffd\ufffd[2J\ufffd\ufffd\ufffd\n", out.String())
	out.Reset()
	s.logf("%s", strings.Repeat("ä", 5000))
	require.Len(t, out.String(), len("lwcat: ")+maxMessage+len("…\n"))
	require.NotContains(t, out.String(), "\ufffd")
}

func TestRedirectsAreLoggedOnce(t *testing.T) {
	other := start(t, nil)
	create(t, other, "configmaps", named("a"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.RequestURI, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(server.Close)
	code, out, errs := lwcat(t, "-s", server.URL, "--token", "s3cret", "--once", "cm")
	require.Zero(t, code, errs)
	require.Contains(t, out, `"name":"a"`)
	require.Equal(t, "lwcat: the server redirects to "+other.URL+"; no credentials are sent there\n", errs)
}

// TestCompletionOmitsUnsafeWords checks that completions contain no shell syntax.
func TestCompletionOmitsUnsafeWords(t *testing.T) {
	for text, is := range map[string]bool{
		"web-0": true, "deploy.apps/web": true, "arn:aws:eks:eu-1:1234:cluster/x": true, "jane@example.com": true, "custom-columns=": true, "größe": true,
		"a b": false, "a;b": false, "$(a)": false, "`a`": false, "a\nb": false, "a'b": false, `a"b`: false, "a&b": false, "a|b": false, "a>b": false, "a*": false, "~a": false, "!a": false, "a\x1b": false, "a\\b": false,
	} {
		require.Equal(t, is, isWord(text), "%q", text)
	}
}
