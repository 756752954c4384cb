// Package redact removes credentials from strings that a server, gateway or proxy wrote. All transports use it.
package redact

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
)

// Secrets contains the credentials of a request.
type Secrets []string

// mark replaces each secret in the text.
const mark = "…"

// whole is a length in bytes. A secret that is at least this long is always redacted. Its prefixes of at least this
// length are redacted, too, because a server may truncate its message in the middle of the secret. A shorter secret is
// redacted only if it is a whole word, because it may also occur within harmless words.
const whole = 8

// Text returns text without the secrets. It finds them in plain text, in base64, and with URL, JSON or HTML escapes.
// Call it before truncating the text, because a truncated secret may be too short to be found.
func (s Secrets) Text(text string) string {
	forms := s.forms()
	clean, kept := "", 0
	for i := 0; i < len(text); i++ {
		if n := longest(forms, text, i); n > 0 {
			clean += text[kept:i] + mark
			kept = i + n
			i = kept - 1
		}
	}
	return clean + text[kept:]
}

// Error returns err if its message contains no secret. Otherwise, it returns an error that has a redacted message and
// matches the same targets with errors.Is. This error does not wrap err, because err contains the secret.
func (s Secrets) Error(err error) error {
	if err == nil || len(s) == 0 {
		return err
	}
	text := err.Error()
	clean := s.Text(text)
	if clean == text {
		return err
	}
	return &redacted{clean, func(target error) bool { return errors.Is(err, target) }}
}

// redacted is an error with redacted text.
type redacted struct {
	text string
	is   func(target error) bool
}

func (r *redacted) Error() string        { return r.text }
func (r *redacted) Is(target error) bool { return r.is(target) }

// forms returns the secrets in plain text and in base64. If other text precedes a secret, the base64 encoding of the
// secret depends on the number of preceding bytes, so each secret has three base64 forms.
func (s Secrets) forms() (forms []string) {
	for _, secret := range s {
		if secret != "" {
			forms = append(forms, secret)
		}
		for before := range 3 { // number of bytes before the secret in its base64 group of 3 bytes
			text := base64.RawURLEncoding.EncodeToString([]byte("\x00\x00"[:before] + secret))
			if before > 0 {
				text = text[before+1:] // the removed characters also depend on the bytes before the secret
			}
			if len(text) >= whole {
				forms = append(forms, text)
			}
		}
	}
	return forms
}

// longest returns the length in bytes of the longest match of any form at text[i:], or 0 if no form matches.
func longest(forms []string, text string, i int) (most int) {
	for _, form := range forms {
		for escaped := 0; escaped < 2; escaped++ {
			end, matched := match(form, text, i, escaped > 0)
			word := startsWord(text, i) && (end == len(text) || !isWord(text[end]))
			if matched >= whole || matched == len(form) && word {
				most = max(most, end-i)
			}
		}
	}
	return most
}

// startsWord reports whether no ASCII letter or digit precedes text[i]. It also decodes an escape sequence there, because
// the last character of a sequence such as %3D is a letter or a digit.
func startsWord(text string, i int) bool {
	if i == 0 || !isWord(text[i-1]) || i > 1 && text[i-2] == '\\' { // \n and similar sequences are control characters
		return true
	}
	n := len("%3D")
	if i >= 6 && text[i-6:i-4] == `\u` {
		n = len(`\u003d`)
	} else if i < n || text[i-n] != '%' {
		return false
	}
	c, length := unescape(text[i-n:])
	return length < n || !isWord(c) // shorter if the sequence is not ASCII
}

// match compares text[i:] with form. It returns the end of the match in text and the number of matching bytes of form.
// If escaped is set, match decodes escape sequences in text.
func match(form, text string, i int, escaped bool) (end, matched int) {
	for matched < len(form) && i < len(text) {
		c, n := text[i], 1
		if escaped {
			c, n = unescape(text[i:])
		}
		if digit(c) != digit(form[matched]) {
			break
		}
		i, matched = i+n, matched+1
	}
	return i, matched
}

// unescape decodes the first character of text. n is the length of its escape sequence in bytes, or 1 if the character
// is not escaped.
func unescape(text string) (c byte, n int) {
	code, base := "", 16
	switch {
	case text[0] == '%' && len(text) >= 3:
		code, n = text[1:3], 3
	case strings.HasPrefix(text, `\u`) && len(text) >= 6:
		code, n = text[2:6], 6
	case text[0] == '\\' && len(text) >= 2 && text[1] != 'u':
		return text[1], 2
	case strings.HasPrefix(text, "&#"):
		i := strings.IndexByte(text[:min(len(text), 32)], ';') // limited, because the search happens at every position
		if i > 3 && text[2]|0x20 == 'x' {
			code, n = text[3:i], i+1
		} else if i > 2 {
			code, n, base = text[2:i], i+1, 10
		}
	}
	value, err := strconv.ParseUint(code, base, 8)
	if err != nil || value > '~' { // tokens are ASCII
		return text[0], 1
	}
	return byte(value), n
}

// digit maps the characters + and / of standard base64 to - and _ of URL-safe base64. It returns other characters
// unchanged.
func digit(c byte) byte {
	switch c {
	case '+':
		return '-'
	case '/':
		return '_'
	}
	return c
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
