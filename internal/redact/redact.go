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
	if len(forms) == 0 {
		return text
	}
	var clean []byte
	kept := 0
	for i := 0; i < len(text); {
		n := longest(forms, text, i)
		if n == 0 {
			i++
			continue
		}
		clean = append(append(clean, text[kept:i]...), mark...)
		i += n
		kept = i
	}
	if kept == 0 {
		return text
	}
	return string(append(clean, text[kept:]...))
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

// form is a secret, or its base64, of which the alphabet for URLs and the other one are equal.
type form struct {
	text   string
	base64 bool
}

func (s Secrets) forms() (forms []form) {
	for _, secret := range s {
		if secret == "" {
			continue
		}
		forms = append(forms, form{text: secret})
		for _, skip := range [3]int{0, 4, 2} { // bits, after 0, 1 and 2 bytes of other text
			if text := encode(secret, skip); len(text) >= whole {
				forms = append(forms, form{text, true})
			}
		}
	}
	return forms
}

// longest returns the length of the longest form of a secret at text[i:]; 0 if there is none.
func longest(forms []form, text string, i int) (most int) {
	for _, f := range forms {
		for _, escaped := range [2]bool{false, true} {
			n, matched := f.match(text[i:], escaped)
			word := (i == 0 || !isWord(text[i-1])) && (i+n == len(text) || !isWord(text[i+n]))
			if matched >= whole || matched == len(f.text) && word {
				most = max(most, n)
			}
		}
	}
	return most
}

// match returns how many bytes of text stand for a prefix of the form, and the length of that prefix.
func (f form) match(text string, escaped bool) (n, matched int) {
	for matched < len(f.text) && n < len(text) {
		c, size := text[n], 1
		if escaped {
			c, size = unescape(text[n:])
		}
		if c != f.text[matched] && !(f.base64 && sameInBase64(c, f.text[matched])) {
			break
		}
		n, matched = n+size, matched+1
	}
	return n, matched
}

func sameInBase64(c, digit byte) bool { return c == '+' && digit == '-' || c == '/' && digit == '_' }

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
