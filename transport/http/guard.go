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

// guard adds the credential to requests for the server's own origin, and to no others.
type guard struct {
	server    *url.URL
	source    *source
	token     tokenSource
	ask       func(ctx context.Context, refused *Credential) (*Credential, error) // in place of token, unless nil
	header    http.Header
	userAgent string
	secrets   redact.Secrets // of every request: see attempt
}

// credentials are what a request is sent with.
type credentials struct {
	via   *roundTrippers
	token string
	given *Credential // by ask
}

func (c credentials) equal(other credentials) bool {
	return c.via == other.via && c.token == other.token
}

// attempt is the RoundTripper of one Open, with its redirects.
type attempt struct {
	*guard
	secrets redact.Secrets // all tokens that were sent, and the secrets of every request
	renewed bool           // an Open is repeated once at most, so that many 401s do not read the files as often
}

func (g *guard) attempt() *attempt {
	return &attempt{guard: g, secrets: g.secrets[:len(g.secrets):len(g.secrets)]}
}

// refusal returns the error of a response whose status is not a success.
func (a *attempt) refusal(response *http.Response) error {
	text := &body{ReadCloser: response.Body, ctx: context.Background(), secrets: a.secrets}
	refusal := lw.ReadStatusError(response.StatusCode, retryAfter(response.Header.Get("Retry-After"), time.Now()), text)
	if response.Request != nil && origin(response.Request.URL) != origin(a.server) {
		return fmt.Errorf("http: redirected to %s, which gets no credentials: %w", a.secrets.Text(origin(response.Request.URL)), refusal)
	}
	return refusal
}

func (a *attempt) RoundTrip(original *http.Request) (*http.Response, error) {
	ctx, own := original.Context(), origin(original.URL) == origin(a.server)
	if !own {
		a.leaves(original)
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
func (g *guard) credentials(ctx context.Context, own bool) (c credentials, err error) {
	if own && g.ask != nil {
		return g.given(ctx, nil)
	}
	if c.via, err = g.source.current(ctx, nil, nil); err == nil && own {
		c.token, err = g.token(ctx, "")
	}
	return c, err
}

// given asks the caller's CredentialFunc. The token and the client certificate are those of one and the same Credential.
func (g *guard) given(ctx context.Context, refused *Credential) (c credentials, err error) {
	if c.given, err = g.ask(ctx, refused); err != nil {
		return c, &notGiven{err}
	}
	if c.given == nil {
		c.given = &Credential{}
	}
	c.token = c.given.Token
	c.via, err = g.source.current(ctx, c.given, nil)
	return c, err
}

// notGiven is why there is no credential.
type notGiven struct{ error }

func (n *notGiven) Unwrap() error { return n.error }

// renew looks for other credentials than those that a request has just failed with. The files are looked at whatever the
// failure was, as the words of a refused certificate cannot be relied on: in TLS 1.3 the refusal comes after the handshake,
// and is often seen only as a connection that broke. The token is asked for anew when the server refused it, or may be about
// to, as everything else has changed. A CredentialFunc is asked only after a 401: it may ask a human.
func (g *guard) renew(ctx context.Context, used credentials, own, unauthorized bool) (credentials, error) {
	fresh, err := used, error(nil)
	if fresh.via, err = g.source.current(ctx, used.given, used.via); err != nil {
		return used, nil
	}
	switch {
	case g.ask != nil && unauthorized:
		return g.given(ctx, used.given)
	case g.ask == nil && (unauthorized || own && fresh.via != used.via):
		if token, err := g.token(ctx, used.token); err == nil && token != "" { // else the failure at hand says more
			fresh.token = token
		}
	}
	return fresh, nil
}

func (a *attempt) send(original *http.Request, own bool, c credentials) (*http.Response, error) {
	request := original.Clone(original.Context())
	request.Header.Set("User-Agent", a.userAgent)
	via := c.via.trusted
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
		via = c.via.bare
	}
	response, err := via.RoundTrip(request)
	if response != nil && response.StatusCode == http.StatusSwitchingProtocols {
		return response, err // the connection is the caller's now
	}
	if response != nil {
		hideLocation(response)
	}
	if response != nil && response.Body != nil { // a caller's transport may leave it out, and http.Client minds that
		response.Body = &lease{ReadCloser: response.Body, source: a.source, via: c.via}
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
