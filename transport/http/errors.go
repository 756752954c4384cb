package http

import (
	"errors"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// errPath reports a request path without a leading slash. Such a path would change the host in the URL, so another host
// would receive the credentials.
var errPath = errors.New("http: the request path must start with a slash, for example /api/v1/pods")

// ErrNotUpgraded reports that the server or a proxy ignored the request to switch protocols. It wraps
// [errors.ErrUnsupported].
var ErrNotUpgraded error = notUpgraded{}

type notUpgraded struct{}

func (notUpgraded) Error() string {
	return "http: the server or a proxy does not support the requested protocol"
}

func (notUpgraded) Unwrap() error { return errors.ErrUnsupported }

// errRedirects reports that a request was redirected ten times. Browsers have their own limit and error.
var errRedirects = errors.New("http: stopped after 10 redirects")

// errPartial reports a 206 response. No request asks for a range, so the missing objects would look deleted.
var errPartial error = &lw.StatusError{Code: 206, Reason: "PartialContent", Message: "the response is only a part of the resource"}

// isToken reports whether text is valid in an Authorization header. net/http and fetch quote invalid text in their
// errors.
func isToken(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}
