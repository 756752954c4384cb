//go:build !js

package http

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// guard adds the credential to requests for the server's own origin, and to no others.
type guard struct {
	server    *url.URL
	source    *source
	token     tokenSource
	header    http.Header
	userAgent string
}

// credentials are what a request is sent with.
type credentials struct {
	via   *roundTrippers
	token string
}

// attempt is the RoundTripper of one Open, with its redirects.
type attempt struct {
	*guard
	renewed bool // so that an Open is tried once more at most, and a storm of 401s is no storm of reads
}

func (a *attempt) RoundTrip(original *http.Request) (*http.Response, error) {
	ctx, own := original.Context(), origin(original.URL) == origin(a.server)
	used := credentials{via: a.source.current(nil)}
	if own {
		var err error
		if used.token, err = a.token(ctx, ""); err != nil {
			return nil, err
		}
	}
	response, err := a.send(original, own, used)
	unauthorized := own && response != nil && response.StatusCode == http.StatusUnauthorized
	if a.renewed || ctx.Err() != nil || err == nil && !unauthorized {
		return response, err
	}
	a.renewed = true
	fresh := a.renew(ctx, used, own, unauthorized)
	if fresh == used || ctx.Err() != nil {
		return response, err
	}
	if response != nil && response.Body != nil {
		_ = response.Body.Close()
	}
	return a.send(original, own, fresh)
}

// renew looks for other credentials than those that a request has just failed with. The files are looked at whatever the
// failure was, as the words of a refused certificate cannot be relied on: in TLS 1.3 the refusal comes after the handshake,
// and is often seen only as a connection that broke. The token is asked for anew when the server refused it, or may be about
// to, as everything else has changed.
func (g *guard) renew(ctx context.Context, used credentials, own, unauthorized bool) credentials {
	fresh := credentials{via: g.source.current(used.via), token: used.token}
	if unauthorized || own && fresh.via != used.via {
		if token, err := g.token(ctx, used.token); err == nil && token != "" { // else the failure at hand says more
			fresh.token = token
		}
	}
	return fresh
}

func (g *guard) send(original *http.Request, own bool, c credentials) (*http.Response, error) {
	request := original.Clone(original.Context())
	request.Header.Set("User-Agent", g.userAgent)
	via := c.via.trusted
	if own {
		for name, values := range g.header {
			request.Header[http.CanonicalHeaderKey(name)] = values
		}
		if c.token != "" {
			request.Header.Set("Authorization", "Bearer "+c.token)
		}
	} else {
		request.Header.Del("Authorization")
		via = c.via.bare
	}
	response, err := via.RoundTrip(request)
	if response != nil && response.StatusCode == http.StatusSwitchingProtocols {
		return response, err // the connection is the caller's now
	}
	if response != nil && response.Body != nil { // a caller's transport may leave it out, and http.Client minds that
		response.Body = &lease{ReadCloser: response.Body, source: g.source, via: c.via}
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
