//go:build !js

package http

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// authenticator adds credentials to requests for the server's own origin only.
type authenticator struct {
	server         *url.URL
	transports     *transportSource
	token          tokenSource
	credentialFunc func(ctx context.Context, refused *Credential) (*Credential, error) // in place of token, unless nil
	header         http.Header
	userAgent      string
	secrets        redact.Secrets // of every request: see attempt
}

// credentials are what a request is sent with.
type credentials struct {
	roundTrippers *roundTrippers
	token         string
	credential    *Credential // by ask
}

func (c credentials) equal(other credentials) bool {
	return c.roundTrippers == other.roundTrippers && c.token == other.token
}

// attempt is the RoundTripper of one Open, with its redirects.
type attempt struct {
	*authenticator
	secrets redact.Secrets // all tokens that were sent, and the secrets of every request
	renewed bool           // an Open is repeated once at most, so that many 401s do not read the files as often
}

func (a *authenticator) attempt() *attempt {
	return &attempt{authenticator: a, secrets: a.secrets[:len(a.secrets):len(a.secrets)]}
}

// responseError returns the error of a response without success status.
func (a *attempt) responseError(response *http.Response) error {
	text := &body{ReadCloser: response.Body, ctx: context.Background(), secrets: a.secrets}
	refusal := lw.ReadStatusError(response.StatusCode, retryAfter(response.Header.Get("Retry-After"), time.Now()), text)
	if response.Request != nil && origin(response.Request.URL) != origin(a.server) {
		return &RedirectedError{Origin: a.secrets.Text(origin(response.Request.URL)), Err: refusal}
	}
	return refusal
}

func (a *attempt) RoundTrip(original *http.Request) (*http.Response, error) {
	ctx, own := original.Context(), origin(original.URL) == origin(a.server)
	if !own {
		a.reportRedirect(original)
	}
	used, err := a.credentials(ctx, own)
	if err != nil {
		return nil, err
	}
	response, err := a.send(original, own, used)
	unauthorized := own && response != nil && response.StatusCode == http.StatusUnauthorized
	if a.renewed || ctx.Err() != nil || err == nil && !unauthorized {
		return response, err
	}
	a.renewed = true
	fresh, failure := a.renew(ctx, used, own, unauthorized)
	if failure == nil && fresh.equal(used) || ctx.Err() != nil {
		return response, err
	}
	if response != nil && response.Body != nil {
		_ = response.Body.Close()
	}
	if failure != nil {
		return nil, failure
	}
	return a.send(original, own, fresh)
}

// credentials returns those for a request that has not been tried yet.
func (a *authenticator) credentials(ctx context.Context, own bool) (c credentials, err error) {
	if own && a.credentialFunc != nil {
		return a.callCredentialFunc(ctx, nil)
	}
	if c.roundTrippers, err = a.transports.current(ctx, nil, nil); err == nil && own {
		c.token, err = a.token(ctx, "")
	}
	return c, err
}

// callCredentialFunc calls the caller's CredentialFunc. The token and the client certificate come from the same Credential.
func (a *authenticator) callCredentialFunc(ctx context.Context, refused *Credential) (c credentials, err error) {
	if c.credential, err = a.credentialFunc(ctx, refused); err != nil {
		return c, &credentialError{err}
	}
	if c.credential == nil {
		c.credential = &Credential{}
	}
	c.token = c.credential.Token
	c.roundTrippers, err = a.transports.current(ctx, c.credential, nil)
	return c, err
}

// credentialError reports that there is no credential.
type credentialError struct{ error }

func (n *credentialError) Unwrap() error { return n.error }

// renew looks for other credentials than those that a request has just failed with. The files are looked at whatever the
// failure was, as the words of a refused certificate cannot be relied on: in TLS 1.3 the refusal comes after the handshake,
// and is often seen only as a connection that broke. The token is asked for anew when the server refused it, or may be about
// to, as everything else has changed. A CredentialFunc is asked only after a 401: it may ask a human.
func (a *authenticator) renew(ctx context.Context, used credentials, own, unauthorized bool) (credentials, error) {
	fresh, err := used, error(nil)
	if fresh.roundTrippers, err = a.transports.current(ctx, used.credential, used.roundTrippers); err != nil {
		return used, nil
	}
	switch {
	case a.credentialFunc != nil && unauthorized:
		return a.callCredentialFunc(ctx, used.credential)
	case a.credentialFunc == nil && (unauthorized || own && fresh.roundTrippers != used.roundTrippers):
		if token, err := a.token(ctx, used.token); err == nil && token != "" { // else the failure at hand says more
			fresh.token = token
		}
	}
	return fresh, nil
}

func (a *attempt) send(original *http.Request, own bool, c credentials) (*http.Response, error) {
	request := original.Clone(original.Context())
	request.Header.Set("User-Agent", a.userAgent)
	via := c.roundTrippers.authenticated
	if own {
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
	response, err := via.RoundTrip(request)
	if response != nil && response.StatusCode == http.StatusSwitchingProtocols {
		return response, err // the connection is the caller's now
	}
	if response != nil {
		hideLocation(response)
	}
	if response != nil && response.Body != nil { // a caller's transport may leave it out, and http.Client minds that
		response.Body = &lease{ReadCloser: response.Body, source: a.transports, via: c.roundTrippers}
	}
	return response, err
}

// origin is RFC 6454's: a host in other capitals, or with its scheme's own port, is the same.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" && u.Scheme == "https" {
		port = "443"
	} else if port == "" {
		port = "80"
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}
