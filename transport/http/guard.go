//go:build !js

package http

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// authenticator adds credentials to requests, but only to requests for the server's own origin.
type authenticator struct {
	server         *url.URL
	transports     *transportSource
	token          tokenSource
	credentialFunc func(ctx context.Context, rejected *Credential) (*Credential, error) // if not nil, it replaces the token source and the client certificate
	header         http.Header
	userAgent      string
	secrets        redact.Secrets // secrets that every request to the server contains
}

// credentials contains the round trippers and the token of a request.
type credentials struct {
	roundTrippers *roundTrippers
	token         string
	credential    *Credential // the Credential from the CredentialFunc, or nil
}

func (c credentials) equal(other credentials) bool {
	return c.roundTrippers == other.roundTrippers && c.token == other.token
}

// attempt is the http.RoundTripper for one call of Open, including its redirects.
type attempt struct {
	*authenticator
	secrets redact.Secrets // secrets of the authenticator and all tokens that this call sent
	renewed bool           // the credentials were renewed after a failure; a call of Open does this only once
}

func (a *authenticator) attempt() *attempt {
	return &attempt{authenticator: a, secrets: a.secrets[:len(a.secrets):len(a.secrets)]}
}

// responseError returns the error for a response with an error status.
func (a *attempt) responseError(response *http.Response) error {
	if response.StatusCode == http.StatusPartialContent {
		return errPartial
	}
	text := &body{ReadCloser: response.Body, ctx: context.Background(), secrets: a.secrets}
	rejected := lw.ReadStatusError(response.StatusCode, retryAfter(response.Header.Get("Retry-After"), time.Now()), text)
	if response.Request != nil && origin(response.Request.URL) != origin(a.server) {
		return fmt.Errorf("http: redirected to %s without credentials: %w", a.secrets.Text(origin(response.Request.URL)), rejected)
	}
	return rejected
}

func (a *attempt) RoundTrip(original *http.Request) (*http.Response, error) {
	ctx, sameOrigin := original.Context(), origin(original.URL) == origin(a.server)
	if !sameOrigin {
		a.reportRedirect(original)
	}
	used, err := a.credentials(ctx, sameOrigin)
	if err != nil {
		return nil, err
	}
	response, err := a.send(original, sameOrigin, used)
	unauthorized := sameOrigin && response != nil && response.StatusCode == http.StatusUnauthorized
	if a.renewed || ctx.Err() != nil || err == nil && !unauthorized {
		return response, err
	}
	a.renewed = true
	fresh, failure := a.renew(ctx, used, sameOrigin, unauthorized)
	if failure == nil && fresh.equal(used) || ctx.Err() != nil {
		return response, err
	}
	if response != nil && response.Body != nil {
		_ = response.Body.Close()
	}
	if failure != nil {
		return nil, failure
	}
	return a.send(original, sameOrigin, fresh)
}

// credentials returns the credentials for the first attempt of a request. sameOrigin reports whether the request goes to the
// server's own origin.
func (a *authenticator) credentials(ctx context.Context, sameOrigin bool) (c credentials, err error) {
	if sameOrigin && a.credentialFunc != nil {
		return a.callCredentialFunc(ctx, nil)
	}
	if c.roundTrippers, err = a.transports.current(ctx, nil, nil); err == nil && sameOrigin {
		c.token, err = a.token(ctx, "")
	}
	return c, err
}

// callCredentialFunc calls the CredentialFunc. It returns the new token, and round trippers that use the new client
// certificate.
func (a *authenticator) callCredentialFunc(ctx context.Context, rejected *Credential) (c credentials, err error) {
	if c.credential, err = a.credentialFunc(ctx, rejected); err != nil {
		return c, &credentialError{err}
	}
	if c.credential == nil {
		c.credential = &Credential{}
	}
	c.token = c.credential.Token
	c.roundTrippers, err = a.transports.current(ctx, c.credential, nil)
	return c, err
}

// credentialError reports that the CredentialFunc returned an error.
type credentialError struct{ error }

func (n *credentialError) Unwrap() error { return n.error }

// renew returns new credentials after a failed request. It reads the files again after any failure, because the server
// may have rejected the certificate. In TLS 1.3, such a rejection often appears only as a broken connection. renew gets
// a new token after a 401, or if the certificates have changed. It calls a CredentialFunc only after a 401, because the
// call may prompt the user.
func (a *authenticator) renew(ctx context.Context, used credentials, sameOrigin, unauthorized bool) (credentials, error) {
	fresh, err := used, error(nil)
	if fresh.roundTrippers, err = a.transports.current(ctx, used.credential, used.roundTrippers); err != nil {
		return used, nil
	}
	switch {
	case a.credentialFunc != nil && unauthorized:
		return a.callCredentialFunc(ctx, used.credential)
	case a.credentialFunc == nil && (unauthorized || sameOrigin && fresh.roundTrippers != used.roundTrippers):
		if token, err := a.token(ctx, used.token); err == nil && token != "" { // without a new token, the original error is more useful
			fresh.token = token
		}
	}
	return fresh, nil
}

func (a *attempt) send(original *http.Request, sameOrigin bool, c credentials) (*http.Response, error) {
	request := original.Clone(original.Context())
	request.Header.Set("User-Agent", a.userAgent)
	via := c.roundTrippers.authenticated
	if sameOrigin {
		for name, values := range a.header {
			request.Header[http.CanonicalHeaderKey(name)] = values
		}
		if c.token != "" {
			request.Header.Set("Authorization", "Bearer "+c.token)
			a.secrets = append(a.secrets, c.token)
		}
	} else {
		request.Header.Del("Authorization")
		via = c.roundTrippers.anonymous
	}
	most := int32(maxConnections)
	if a.transports.callerOwned || !sameOrigin {
		most = maxCustomConnections
	}
	limited, end := limitConnections(request, most)
	response, err := via.RoundTrip(limited)
	if context.Cause(limited.Context()) == errUnserved {
		err = errUnserved
	}
	if response != nil && response.StatusCode != http.StatusSwitchingProtocols { // an upgraded connection belongs to the caller
		hideLocation(response)
		if response.Body != nil { // the RoundTripper of a custom client may return a response without a body
			response.Body = &lease{ReadCloser: response.Body, source: a.transports, via: c.roundTrippers, end: end}
			return response, err
		}
	}
	end()
	return response, err
}

// origin returns the normalized origin of a URL (RFC 6454), with the host in lower case and an explicit port.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" && u.Scheme == "https" {
		port = "443"
	} else if port == "" {
		port = "80"
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}
