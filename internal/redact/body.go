package redact

import "io"

// Body removes the credentials of a request from text of its response. It calls the method Redact(text string) string
// of the body. If the body has no such method, Body returns text unchanged.
func Body(body io.Reader, text string) string {
	if r, ok := body.(interface{ Redact(text string) string }); ok {
		return r.Redact(text)
	}
	return text
}
