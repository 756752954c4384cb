package redact

import "io"

// Body removes the credential of a request from text that comes from the body of its response. The body does so with its method
// Redact(text string) string. Body returns the text of any other body unchanged.
func Body(body io.Reader, text string) string {
	if r, ok := body.(interface{ Redact(text string) string }); ok {
		return r.Redact(text)
	}
	return text
}
