package redact

import "io"

// Body returns text without the credentials of the request whose response is body. If body has a method Redact, Body
// calls it. Otherwise it returns text unchanged.
func Body(body io.Reader, text string) string {
	if r, ok := body.(interface{ Redact(text string) string }); ok {
		return r.Redact(text)
	}
	return text
}
