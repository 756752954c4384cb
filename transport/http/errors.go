package http

import "errors"

// errPath is for a path that would be read as the end of the host's name: its request, and the credentials, could go elsewhere.
var errPath = errors.New("http: the path of a request must begin with a slash, as /api/v1/pods")

// ErrNotUpgraded says that the server, or a proxy, answered a request for another protocol as if it had been none.
// It is an [errors.ErrUnsupported].
var ErrNotUpgraded error = notUpgraded{}

type notUpgraded struct{}

func (notUpgraded) Error() string {
	return "http: the server, or a proxy before it, does not speak the protocol that was asked for"
}

func (notUpgraded) Unwrap() error { return errors.ErrUnsupported }

// errRedirects reports ten redirects. A browser has its own limit and its own error.
var errRedirects = errors.New("http: the server redirects without an end")

// isToken reports whether a header may have a text; net/http and fetch would show it in their complaints, or try it for ever.
func isToken(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}
