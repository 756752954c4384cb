// Package redact removes credentials from text written by a server, a gateway or a proxy. All transports use it.
package redact

import "errors"

// Secrets lists the credentials of a request.
type Secrets []string

// mark replaces a secret.
const mark = "…"

// whole is the minimum length in bytes of a prefix that is redacted like the whole secret, because a peer may truncate
// the secret. A shorter secret is redacted only as a separate word, because it may be part of ordinary words.
const whole = 8

// Text returns text without the secrets. It finds them in plain text, in base64, and with URL, JSON or HTML escapes.
// Call it before you truncate the text.
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

// Error returns err if its text contains no secret. Otherwise it returns an error with redacted text that matches the
// same targets with errors.Is. It does not unwrap to the original errors, because their messages contain the secret.
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
		for skip := 0; skip < 6; skip += 2 { // number of bits to skip if 0, 2 or 1 bytes precede the secret
			if text := encode(secret, skip); len(text) >= whole {
				forms = append(forms, text)
			}
		}
	}
	return forms
}

// longest returns the length in bytes of the longest secret that starts at text[i], or 0.
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

// match compares text[i:] with a form of a secret. It returns the end of the match in text and the number of matching
// bytes.
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

// digit returns the digit of the URL-safe base64 alphabet for a digit of the standard alphabet.
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
