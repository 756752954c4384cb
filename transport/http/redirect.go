//go:build !js

package http

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/seed-6d2a410a/listwatch/internal/tracing"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// follow is the redirect policy of our own clients.
func follow(_ *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errRedirects
	}
	return nil
}

// reportRedirect reports to the trace that a request goes to another origin.
func (a *attempt) reportRedirect(request *http.Request) {
	if redirected := tracing.From[lw.Trace](request.Context()).Redirected; redirected != nil {
		redirected(a.secrets.Text(origin(request.URL)))
	}
}

// hideLocation drops the target of a redirect that is no URL: net/http would show it, and it may hold a token.
func hideLocation(response *http.Response) {
	if _, err := url.Parse(response.Header.Get("Location")); err != nil {
		response.Header.Del("Location")
	}
}

// withoutQuery leaves the query out of the URL of a request that failed: redirects, to log-in pages and the like, have
// tokens in it.
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
