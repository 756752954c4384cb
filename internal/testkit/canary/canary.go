// Package canary makes secrets of unmistakable text, for tests, and looks for them in whatever form they got out.
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

// Secrets are what must not get out, by what they are.
type Secrets map[string]string

// New makes a secret. It may be a bearer token, and has characters that URLs and HTML escape. What is looked for is its
// beginning, so that one that was cut off is found, too.
func (s Secrets) New(what string) string {
	s[what] = fmt.Sprintf("C4+ary/%s~", what)
	return s[what] + "0123456789abcdef"
}

// Add takes a text that is secret as it is.
func (s Secrets) Add(what, text string) { s[what] = text }

// In returns which secrets a text has, and in which form.
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

// Absent fails if a text has a secret.
func (s Secrets) Absent(t testing.TB, where, text string) {
	t.Helper()
	if found := s.In(text); found != nil {
		require.Fail(t, "secrets got out", "%s has %v:\n%s", where, found, text)
	}
}

// AbsentFrom fails if a file of a folder has a secret, or may be read by others. It returns how many files there are.
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

// forms are a secret as it may be written.
func forms(secret string) map[string]string {
	all := map[string]string{
		"as it is":          secret,
		"in a query":        url.QueryEscape(secret),
		"in a path":         url.PathEscape(secret),
		"in hexadecimal":    hex.EncodeToString([]byte(secret)),
		"in Go's bytes":     strings.Trim(fmt.Sprint([]byte(secret)), "[]"),
		"in quotes":         strings.ReplaceAll(secret, "/", `\/`),
		"escaped for HTML":  strings.NewReplacer("+", `\u002b`, "/", `\u002f`).Replace(secret),
		"escaped for pages": strings.NewReplacer("+", "&#43;", "/", "&#x2F;").Replace(secret),
	}
	for name, encoding := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64 for URLs": base64.RawURLEncoding} {
		for shift := range 3 { // what stands before it shifts the bits
			text := encoding.EncodeToString([]byte(strings.Repeat("x", shift) + secret))
			first, last := (shift*8+5)/6, len(text)-1 // of the characters that are the secret's alone
			all[fmt.Sprintf("in %s, shifted by %d", name, shift)] = text[first:last]
		}
	}
	return all
}
