package redact

import "io"

// Body returns text without the credentials of the request that body responds to. It calls
// body's method Redact(text string) string. If body has no such method, Body returns text unchanged.
func Body(body io.Reader, text string) string {
	if r, ok := body.(interface{ Redact(text string) string }); ok {
		return r.Redact(text)
	}
	return text
}
