package redact

import "io"

// Body returns text without the credentials of the request whose response is body. It calls body.Redact(text). If body
// has no such method, Body returns text unchanged.
func Body(body io.Reader, text string) string {
	if r, ok := body.(interface{ Redact(text string) string }); ok {
		return r.Redact(text)
	}
	return text
}
