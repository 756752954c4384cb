package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/stretchr/testify/require"
)

const token = "eyJhbGciOi.C4+ary/tok~n-0123456789_abcdef=="

// escapeAll formats each byte of the token with format and joins the results.
func escapeAll(format string) string {
	var text strings.Builder
	for _, c := range []byte(token) {
		fmt.Fprintf(&text, format, c)
	}
	return text.String()
}

func TestRedactsEveryEncoding(t *testing.T) {
	quoted, err := json.Marshal(token)
	require.NoError(t, err)
	forms := map[string]string{
		"plain": token, "query": url.QueryEscape(token), "path": url.PathEscape(token), "JSON": string(quoted[1 : len(quoted)-1]),
		"JSON, slashes": strings.ReplaceAll(token, "/", `\/`), "HTML": html.EscapeString(token),
		"percent": escapeAll("%%%02x"), "PERCENT": escapeAll("%%%02X"), "\\u": escapeAll(`\u%04x`), "&#": escapeAll("&#%d;"), "&#x": escapeAll("&#x%X;"),
	}
	for name, text := range forms {
		for _, glue := range []string{" ", "x", "%", "&#"} {
			require.Equal(t, "a"+glue+"…"+glue+"b", redact.Secrets{token}.Text("a"+glue+text+glue+"b"), name)
		}
	}
	for before := range 9 {
		for name, encoding := range map[string]*base64.Encoding{"std": base64.StdEncoding, "url": base64.URLEncoding, "raw": base64.RawURLEncoding} {
			text := encoding.EncodeToString([]byte("Bearer: -"[:before] + token + ":more"))
			clean := redact.Secrets{token}.Text(text)
			require.LessOrEqual(t, len(clean), 4*before/3+len("…")+12, "%s %d: %s", name, before, clean)
			require.Contains(t, clean, "…")
			escaped := redact.Secrets{token}.Text(url.QueryEscape(text))
			require.LessOrEqual(t, len(escaped), 4*before/3+len("…")+20, "%s %d: %s", name, before, escaped)
		}
	}
}

func TestRedactsTruncatedSecrets(t *testing.T) {
	for n := 8; n < len(token); n++ {
		require.Equal(t, "was … then", redact.Secrets{token}.Text("was "+token[:n]+" then"))
		require.Equal(t, "was …", redact.Secrets{token}.Text("was "+token[:n]))
	}
	require.Equal(t, "was …", redact.Secrets{token}.Text("was "+base64.RawURLEncoding.EncodeToString([]byte(token))[:20]))
}

func TestRedactsShortSecretsOnlyAsWords(t *testing.T) {
	secrets := redact.Secrets{"", "a", "s3cret"}
	require.Equal(t, "who are you?", secrets.Text("who are you?"))
	require.Equal(t, "Bearer … and Bearer …, xs3cret", secrets.Text("Bearer a and Bearer s3cret, xs3cret"))
	require.Equal(t, "…", secrets.Text("s3cret"))
	require.Equal(t, "", secrets.Text(""))
	for _, before := range []string{"=", "%3D", "%22", `\n`, `\u003d`, "&#61;", `\u201c`, "%E2%80%9C"} {
		require.Equal(t, "token"+before+"…"+before, secrets.Text("token"+before+"s3cret"+before))
	}
	for _, before := range []string{"x", "%41", `\u0041`, "%", "3D"} {
		require.Equal(t, before == "%", strings.Contains(secrets.Text("token"+before+"s3cret"), "…"), before)
	}
}

func TestLongestSecretWins(t *testing.T) {
	for _, secrets := range []redact.Secrets{{token, token + "9999"}, {token + "9999", token}} {
		require.Equal(t, "[…] […]", secrets.Text("["+token+"9999] ["+token+"]"))
	}
}

func TestRedactedErrorsMatchTheirSentinels(t *testing.T) {
	secrets := redact.Secrets{token}
	require.NoError(t, secrets.Error(nil))
	clean := fmt.Errorf("broken: %w", io.EOF)
	require.Same(t, clean, secrets.Error(clean))
	require.Same(t, clean, redact.Secrets(nil).Error(clean))
	err := secrets.Error(&url.Error{Op: "Get", URL: "/" + token, Err: io.ErrUnexpectedEOF})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NotErrorIs(t, err, io.EOF)
	require.EqualError(t, err, `Get "/…": unexpected EOF`)
	require.NoError(t, errors.Unwrap(err))
	_, found := errors.AsType[*url.Error](err)
	require.False(t, found)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), token)
}

func FuzzRedact(f *testing.F) {
	f.Add(token, "a "+token+url.QueryEscape(token))
	f.Add("%41", `%2541 \u00zz &#; &#x;`)
	f.Fuzz(func(t *testing.T, secret, text string) {
		clean := redact.Secrets{secret}.Text(text)
		if len(secret) >= 8 {
			require.NotContains(t, strings.ReplaceAll(clean, "…", "\x00"), secret)
		}
	})
}
