package redact

import "io"

// Body removes the credentials of a request from text. It calls the method Redact of the response body, if there is
// one. Otherwise, it returns text unchanged.
func Body(body io.Reader, text string) string {
	if r, ok := body.(interface{ Redact(text string) string }); ok {
		return r.Redact(text)
	}
	return text
}
