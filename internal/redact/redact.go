// Package redact removes credentials from text that a server, a gateway or a proxy wrote. All transports use it.
package redact

import "errors"

// Secrets are the credentials that were sent with one request.
type Secrets []string

// mark replaces a secret.
const mark = "…"

// whole is the length in bytes from which a prefix of a secret counts as the secret: a peer may have cut the secret off.
// A shorter secret counts only as a separate word, because it may be a part of ordinary words.
const whole = 8

// Text returns text without the secrets. It finds a secret as it was sent, in base64, and with characters that are escaped
// for a URL, for JSON or for HTML. It must run before the text is truncated.
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

// Error returns err if its text has no secret. Otherwise it returns an error with the redacted text, which matches the same
// sentinels by errors.Is. The errors that err wraps are not reachable, because their texts have the secret too.
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

// forms returns the secrets as they are and in base64.
func (s Secrets) forms() (forms []string) {
	for _, secret := range s {
		if secret != "" {
			forms = append(forms, secret)
		}
		for skip := 0; skip < 6; skip += 2 { // bits, after 0, 2 and 1 bytes of other text
			if text := encode(secret, skip); len(text) >= whole {
				forms = append(forms, text)
			}
		}
	}
	return forms
}

// longest returns the length of the longest form of a secret at text[i:]; 0 if there is none.
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

// match returns the end of the text at i that stands for a prefix of the form, and the length of that prefix.
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

// digit makes the two alphabets of base64 equal.
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
