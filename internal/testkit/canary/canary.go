// Package canary generates recognizable secrets for tests, and finds them in output in every common encoding.
package canary

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Secrets maps the description of a secret to the string that must not leak.
type Secrets map[string]string

// New returns a new secret with the given description. The secret is a valid bearer token and contains characters
// that are escaped in URLs and HTML. In looks only for the beginning of the secret, so it also finds truncated
// secrets.
func (s Secrets) New(what string) string {
	s[what] = fmt.Sprintf("C4+ary/%s~", what)
	return s[what] + "0123456789abcdef"
}

// Add registers an existing string as a secret with the given description.
func (s Secrets) Add(what, text string) { s[what] = text }

// In returns the description and the encoding of each secret that text contains.
func (s Secrets) In(text string) (found []string) {
	for what, secret := range s {
		for form, is := range forms(secret) {
			if strings.Contains(text, is) {
				found = append(found, what+", "+form)
			}
		}
	}
	return found
}

// Absent fails the test if text contains a secret. `where` describes the origin of text.
func (s Secrets) Absent(t testing.TB, where, text string) {
	t.Helper()
	if found := s.In(text); found != nil {
		require.Fail(t, "secrets leaked", "%s contains %v:\n%s", where, found, text)
	}
}

// AbsentFrom fails the test if a file in folder contains a secret, or if other users may access the file because its
// mode is not 0600. It returns the number of files, so that the caller can check that there are any.
func (s Secrets) AbsentFrom(t testing.TB, folder string) (files int) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		files++
		info, err := entry.Info()
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), path)
		text, err := os.ReadFile(path)
		s.Absent(t, path, string(text))
		return err
	}))
	return files
}

// forms returns the secret in all encodings that output may use. The keys describe the encodings.
func forms(secret string) map[string]string {
	all := map[string]string{
		"in plain text":            secret,
		"query-escaped":            url.QueryEscape(secret),
		"path-escaped":             url.PathEscape(secret),
		"in hexadecimal":           hex.EncodeToString([]byte(secret)),
		"as a Go byte slice":       strings.Trim(fmt.Sprint([]byte(secret)), "[]"),
		"with escaped slashes":     strings.ReplaceAll(secret, "/", `\/`),
		"escaped for JSON in HTML": strings.NewReplacer("+", `\u002b`, "/", `\u002f`).Replace(secret),
		"escaped for HTML":         strings.NewReplacer("+", "&#43;", "/", "&#x2F;").Replace(secret),
	}
	for name, encoding := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64 for URLs": base64.RawURLEncoding} {
		for shift := range 3 { // the base64 encoding depends on the position of the secret: base64 encodes three bytes at a time
			text := encoding.EncodeToString([]byte(strings.Repeat("x", shift) + secret))
			first, last := (shift*8+5)/6, len(text)-1 // the base64 characters that encode only bits of the secret
			all[fmt.Sprintf("in %s, shifted by %d bytes", name, shift)] = text[first:last]
		}
	}
	return all
}
