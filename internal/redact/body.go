package redact

import "io"

// Body removes the credentials of a request from text of its response. It calls the Redact(text string) string method
// of the body. Without that method, it returns text unchanged.
func Body(body io.Reader, text string) string {
	if r, ok := body.(interface{ Redact(text string) string }); ok {
		return r.Redact(text)
	}
	return text
}
