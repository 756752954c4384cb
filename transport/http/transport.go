//go:build !js

package http

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/internal/secretfile"
)

// Transport is an [lw.Transport] over HTTP. All methods may be called concurrently. Over HTTP/2, requests share
// connections.
type Transport struct {
	// The state contains secrets, so it is behind a pointer. If another struct has a Transport in an unexported field, fmt
	// does not call Format but prints the fields of the Transport. For a pointer, fmt prints only the address.
	state *state
}

type state struct {
	opts    Options        // a copy, because the caller may change its options
	server  *url.URL       // only requests to its origin receive credentials
	client  http.Client    // a template; the method do copies it and sets the Transport of the copy
	secrets redact.Secrets // secrets that every request to the server contains

	// readFile is secretfile.Read, which tests replace.
	readFile  func(purpose, path string) ([]byte, error)
	reading   chan struct{} // lock for reading files and replacing credentials; a channel, so that a wait can be canceled
	mu        sync.Mutex
	active    credentials
	checkedAt time.Time // when the files were last read
}

var _ lw.Transport = (*Transport)(nil)

// New returns a transport for the API server at a URL such as "https://127.0.0.1:6443". The URL may have a path, which
// is added before the path of each request. opts may be nil. New does not send requests. It reads the files to report
// configuration errors early.
func New(server string, opts *Options) (*Transport, error) {
	if opts == nil {
		opts = &Options{}
	}
	parsed, err := url.Parse(server)
	if err != nil {
		// The error of url.Parse is omitted, because it may contain a password.
		return nil, errors.New("http: the server's URL is invalid: it must look like https://host:port")
	}
	if err := opts.validate(parsed); err != nil {
		return nil, err
	}
	t := &state{opts: *opts, server: parsed, readFile: secretfile.Read, reading: make(chan struct{}, 1)}
	t.opts.Header = http.Header(opts.Header).Clone()
	if t.secrets, err = opts.proxySecrets(parsed); err != nil {
		return nil, err
	}
	t.secrets = append(t.secrets, headerSecrets(opts.Header)...)
	if opts.Client != nil {
		t.client = *opts.Client
	}
	t.checkedAt = time.Now()
	if t.active, err = t.initialCredentials(); err != nil {
		return nil, err
	}
	return &Transport{t}, nil
}

// Close closes idle connections. Open responses stay usable. Close does nothing if [Options.Client] is set, because
// other code may use its connections.
func (t *Transport) Close() {
	now, _, _ := t.state.check(credentials{})
	now.closeIdle()
}

// Open implements [lw.Transport]. Reads of the body fail after ctx is done.
func (t *Transport) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	response, secrets, err := t.state.do(ctx, req, nil)
	if err != nil {
		return nil, err
	}
	return &lw.Response{ReadCloser: response.Body, ETag: response.Header.Get("ETag"), Redact: secrets.Text}, nil
}

// Upgrade asks the server to switch to another protocol. header contains the headers that the protocol requires.
// Upgrade adds the Origin header, which a WebSocket server may require. The request uses the same credentials, TLS
// options and proxies as other requests, but always HTTP/1.1. It returns the response headers, the connection, and a
// function that removes the credentials from received text. The caller must close the connection, which stays open when
// ctx is done. If the server or a proxy ignores the request to switch protocols, the error wraps
// [errors.ErrUnsupported].
func (t *Transport) Upgrade(ctx context.Context, req *lw.Request, header http.Header) (_ http.Header, _ io.ReadWriteCloser, redact func(text string) string, _ error) {
	header = header.Clone()
	header.Set("Origin", origin(t.state.server))
	response, secrets, err := t.state.do(ctx, req, header)
	if err != nil {
		return nil, nil, nil, err
	}
	connection, ok := response.Body.(io.ReadWriteCloser)
	if response.StatusCode != http.StatusSwitchingProtocols || !ok {
		_ = response.Body.Close()
		return nil, nil, nil, errNotUpgraded
	}
	return response.Header, connection, secrets.Text, nil
}

// Format prints only the server's origin, for every fmt verb, so that logs contain no secrets.
func (t *Transport) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "http.Transport{"+origin(t.state.server)+"}")
}

// errNotUpgraded reports that the server or a proxy ignored the request to switch protocols.
var errNotUpgraded = fmt.Errorf("http: the server or a proxy does not support the requested protocol: %w", errors.ErrUnsupported)

// do sends a request with additional headers. Status 206 is an error (see errPartial), and so is every status except 101
// and 2xx. do also returns the secrets in the request, so that the caller can redact them.
func (t *state) do(ctx context.Context, req *lw.Request, header http.Header) (*http.Response, redact.Secrets, error) {
	request, err := t.request(ctx, req, header)
	if err != nil {
		return nil, nil, err
	}
	// The capacity of the secrets is limited, so that attempt appends tokens to a copy.
	client, tried := t.client, &attempt{transport: t, secrets: t.secrets[:len(t.secrets):len(t.secrets)]}
	client.Transport = tried
	response, err := client.Do(request)
	if err != nil {
		return nil, nil, cause(ctx, tried.secrets.Error(withoutQuery(err)))
	}
	if code := response.StatusCode; code != http.StatusSwitchingProtocols && (code < 200 || code > 299 || code == http.StatusPartialContent) {
		defer response.Body.Close()
		return nil, nil, cause(ctx, tried.responseError(response))
	}
	return response, tried.secrets, nil
}

// request converts an lw.Request to an http.Request without credentials.
func (t *state) request(ctx context.Context, req *lw.Request, header http.Header) (*http.Request, error) {
	if req.Path != "" && req.Path[0] != '/' {
		return nil, errPath
	}
	target := strings.TrimSuffix(t.server.String(), "/") + req.Path
	if req.Query != "" {
		target += "?" + req.Query
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", cmp.Or(req.Accept, "application/json"))
	if req.IfNoneMatch != "" {
		request.Header.Set("If-None-Match", req.IfNoneMatch)
	}
	if req.Watch {
		// With gzip, each event would be delayed until the next event: Kubernetes 1.37 sends each flush of a streaming list
		// as a gzip member, and compress/gzip returns the end of a member only after the start of the next one.
		request.Header.Set("Accept-Encoding", "identity")
	}
	for name, values := range header {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	return request, nil
}

// attempt is the http.RoundTripper for one call of do, including its redirects. It adds credentials to requests, but
// only to requests for the server's own origin.
type attempt struct {
	transport *state
	secrets   redact.Secrets // secrets of the transport and all tokens that this call sent
	renewed   bool           // the credentials were renewed after a failure, which happens at most once per call of do
}

// RoundTrip sends a request, and retries it once if new credentials may help.
func (a *attempt) RoundTrip(original *http.Request) (*http.Response, error) {
	t := a.transport
	ctx, sameOrigin := original.Context(), origin(original.URL) == origin(t.server)
	if redirected := lw.ContextTrace(ctx).Redirected; redirected != nil && !sameOrigin {
		redirected(a.secrets.Text(origin(original.URL)))
	}
	used, err := t.credentials(ctx, sameOrigin)
	if err != nil {
		return nil, err
	}
	response, err := a.send(original, sameOrigin, used)
	unauthorized := sameOrigin && response != nil && response.StatusCode == http.StatusUnauthorized
	if a.renewed || ctx.Err() != nil || err == nil && !unauthorized {
		return response, err
	}
	a.renewed = true
	fresh, failure := t.renew(ctx, used, sameOrigin, unauthorized)
	same := fresh.roundTrippers == used.roundTrippers && fresh.token == used.token
	if failure == nil && same || ctx.Err() != nil {
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

// send sends a copy of a request with the credentials c. If the request goes to another origin, for example after a
// redirect, send omits the headers from the options, the token and the client certificate.
func (a *attempt) send(original *http.Request, sameOrigin bool, c credentials) (*http.Response, error) {
	t, request := a.transport, original.Clone(original.Context())
	request.Header.Set("User-Agent", "listwatch")
	via := c.authenticated
	if sameOrigin {
		for name, values := range t.opts.Header {
			request.Header[http.CanonicalHeaderKey(name)] = values
		}
		if c.token != "" {
			request.Header.Set("Authorization", "Bearer "+c.token)
			a.secrets = append(a.secrets, c.token)
		}
	} else {
		request.Header.Del("Authorization") // net/http sets this header if the URL of a redirect contains a user
		via = c.anonymous
	}
	most := int32(maxConnections)
	if t.opts.Client != nil || !sameOrigin {
		most = maxCustomConnections
	}
	limited, end := limitConnections(request, most)
	response, err := via.RoundTrip(limited)
	if context.Cause(limited.Context()) == errUnserved {
		err = errUnserved
	}
	// An upgraded connection belongs to the caller.
	if response != nil && response.StatusCode != http.StatusSwitchingProtocols {
		if _, err := url.Parse(response.Header.Get("Location")); err != nil {
			// net/http would quote the invalid header in an error, and the header may contain a token.
			response.Header.Del("Location")
		}
		if response.Body != nil { // the RoundTripper of a custom client may return a response without a body
			response.Body = &body{ReadCloser: response.Body, ctx: original.Context(), attempt: a, via: c.roundTrippers, end: end}
			return response, err
		}
	}
	end()
	return response, err
}

// responseError returns the error for a response with an error status.
func (a *attempt) responseError(response *http.Response) error {
	if response.StatusCode == http.StatusPartialContent {
		return errPartial
	}
	rejected := lw.ReadStatusError(response.StatusCode, retryAfter(response.Header.Get("Retry-After"), time.Now()), response.Body, a.secrets.Text)
	if response.Request != nil && origin(response.Request.URL) != origin(a.transport.server) {
		return fmt.Errorf("http: redirected to %s without credentials: %w", a.secrets.Text(origin(response.Request.URL)), rejected)
	}
	return rejected
}

// body wraps the response body of net/http, so that its errors contain no secrets. After ctx is done, reads return the
// cause of ctx.
type body struct {
	io.ReadCloser
	ctx     context.Context
	attempt *attempt
	via     *roundTrippers
	end     func() // releases the context of the request
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = cause(b.ctx, b.attempt.secrets.Error(err))
	}
	return n, err
}

// Close closes the response. If the credentials were replaced in the meantime, Close also closes the idle connections
// with the old credentials, because no later request will use them.
func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.end()
	if now, _, _ := b.attempt.transport.check(credentials{}); now.roundTrippers != b.via {
		b.via.closeIdle()
	}
	return err
}

// cause returns the cause of ctx if ctx is done, and otherwise err. If a CredentialFunc failed because of ctx, cause
// returns the error of the CredentialFunc.
func cause(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if failed, ok := errors.AsType[*credentialError](err); ok && errors.Is(failed.error, context.Cause(ctx)) {
		return failed.error
	}
	return context.Cause(ctx)
}

// withoutQuery removes the query from the URL in an error from net/http, because the URL of a login page may contain
// tokens.
func withoutQuery(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		end := strings.IndexAny(failed.URL+"?", "?#")
		failed.URL = failed.URL[:end]
	}
	return err
}

// origin returns the normalized origin of a URL (RFC 6454), with the host in lower case and an explicit port.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" && u.Scheme == "https" {
		port = "443"
	} else if port == "" {
		port = "80"
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
