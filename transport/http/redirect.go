//go:build !js

package http

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// RedirectedError says that another origin than the server's refused a request, to which the server had redirected it. It
// gets no credentials, which may be all that is wrong.
type RedirectedError struct {
	Origin string // where the request went, as "https://k8s.example:6443"
	Err    error  // a *lw.StatusError
}

func (e *RedirectedError) Error() string {
	return "http: redirected to " + e.Origin + ", which gets no credentials: " + e.Err.Error()
}

func (e *RedirectedError) Unwrap() error { return e.Err }

// follow is the redirect policy of our own clients.
func follow(_ *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return ErrRedirects
	}
	return nil
}

// reportRedirect reports to the trace that a request goes to another origin.
func (a *attempt) reportRedirect(request *http.Request) {
	if redirected := lw.TraceOf(request.Context()).Redirected; redirected != nil {
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
