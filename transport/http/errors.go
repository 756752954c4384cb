package http

import "errors"

// errPath reports a path that would extend the host name and send credentials to another host.
var errPath = errors.New("http: the request path must start with a slash, for example /api/v1/pods")

// ErrNotUpgraded reports that the server or a proxy ignored the request to switch protocols. It wraps
// [errors.ErrUnsupported].
var ErrNotUpgraded error = notUpgraded{}

type notUpgraded struct{}

func (notUpgraded) Error() string {
	return "http: the server or a proxy does not support the requested protocol"
}

func (notUpgraded) Unwrap() error { return errors.ErrUnsupported }

// errRedirects reports ten redirects. Browsers have their own limit and error.
var errRedirects = errors.New("http: stopped after 10 redirects")

// isToken reports whether text is valid in an Authorization header. With an invalid token, net/http and fetch would
// include the token in their errors, or the request would be retried forever.
func isToken(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}
