//go:build !js

package http

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// follow is the redirect policy of the default client. It allows ten redirects per request.
func follow(_ *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errRedirects
	}
	return nil
}

// reportRedirect calls Trace.Redirected after a redirect to another origin.
func (a *attempt) reportRedirect(request *http.Request) {
	if redirected := lw.ContextTrace(request.Context()).Redirected; redirected != nil {
		redirected(a.secrets.Text(origin(request.URL)))
	}
}

// hideLocation removes an invalid Location header. net/http would quote the header in an error, and it may contain a
// token.
func hideLocation(response *http.Response) {
	if _, err := url.Parse(response.Header.Get("Location")); err != nil {
		response.Header.Del("Location")
	}
}

// withoutQuery removes the query from the URL in an error of net/http, because the URL of a login page may contain
// tokens.
func withoutQuery(err error) error {
	failed, ok := errors.AsType[*url.Error](err)
	if !ok {
		return err
	}
	target, parseErr := url.Parse(failed.URL)
	if parseErr != nil {
		failed.URL = "…"
		return err
	}
	failed.URL = (&url.URL{Scheme: target.Scheme, Host: target.Host, Path: target.Path}).String()
	return err
}
