// Package redact removes credentials from strings that a server, gateway or proxy wrote. All transports use it.
package redact

import "errors"

// Secrets contains the credentials of a request.
type Secrets []string

// mark replaces secrets.
const mark = "…"

// whole is the minimum length in bytes of secrets and prefixes of secrets that are always redacted. A shorter secret is
// redacted only if it is a whole word.
const whole = 8

// Text returns text without the secrets. It finds them in plain text, in base64, and with URL, JSON or HTML escapes.
// Call it before truncating the text.
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

type redacted struct {
	text string
	is   func(target error) bool
}

func (r *redacted) Error() string        { return r.text }
func (r *redacted) Is(target error) bool { return r.is(target) }

// forms returns the secrets in plain text and in base64.
func (s Secrets) forms() (forms []string) {
	for _, secret := range s {
		if secret != "" {
			forms = append(forms, secret)
		}
		for skip := 0; skip < 6; skip += 2 { // number of bits that share a base64 character with 0, 2 or 1 preceding bytes, modulo 3
			if text := encode(secret, skip); len(text) >= whole {
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
			word := (i == 0 || !isWord(text[i-1])) && (end == len(text) || !isWord(text[end]))
			if matched >= whole || matched == len(form) && word {
				most = max(most, end-i)
			}
		}
	}
	return most
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
