package http

import "errors"

// ErrNotUpgraded says that the server, or a proxy, answered a request for another protocol as if it had been none.
// It is an [errors.ErrUnsupported].
var ErrNotUpgraded error = notUpgraded{}

type notUpgraded struct{}

func (notUpgraded) Error() string {
	return "http: the server, or a proxy before it, does not speak the protocol that was asked for"
}

func (notUpgraded) Unwrap() error { return errors.ErrUnsupported }
