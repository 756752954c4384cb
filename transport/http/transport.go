package http

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Transport is a [lw.Transport] over HTTP. All methods may run concurrently. Over HTTP/2 its requests share a connection.
type Transport struct {
	server *url.URL
	client *http.Client
}

var _ lw.Transport = (*Transport)(nil)

// New returns a transport to the API server at a URL such as "https://127.0.0.1:6443", which may have a path in front of
// the API's. opts may be nil. Nothing is sent yet; files are read once, to find mistakes early.
func New(server string, opts *Options) (*Transport, error) {
	if opts == nil {
		opts = &Options{}
	}
	parsed, err := url.Parse(server)
	if err != nil {
		return nil, errors.New("http: the server's URL does not parse") // the URL may hold a password
	}
	if err := opts.validate(parsed); err != nil {
		return nil, err
	}
	credential, err := newTokenSource(opts)
	if err != nil {
		return nil, err
	}
	client := &http.Client{}
	if opts.Client != nil {
		*client = *opts.Client
	}
	guard := &guard{server: parsed, token: credential, header: opts.Header.Clone(), userAgent: opts.UserAgent}
	if guard.userAgent == "" {
		guard.userAgent = "listwatch"
	}
	if opts.Client == nil {
		if guard.trusted, err = opts.newRoundTripper(true); err != nil {
			return nil, err
		}
		guard.bare, err = opts.newRoundTripper(false)
	} else if guard.trusted = client.Transport; guard.trusted == nil {
		guard.trusted = http.DefaultTransport
	}
	client.Transport = guard
	return &Transport{server: parsed, client: client}, err
}

// Close closes idle connections, and ends the dials that nobody waits for any more. Responses that are being read stay
// open.
func (t *Transport) Close() { t.client.CloseIdleConnections() }

// Open implements [lw.Transport]. The body ends with an error when ctx ends.
func (t *Transport) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	target := strings.TrimSuffix(t.server.String(), "/") + req.Path
	if req.Query != "" {
		target += "?" + req.Query
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, err
	}
	accept := req.Accept
	if accept == "" {
		accept = "application/json"
	}
	request.Header.Set("Accept", accept)
	response, err := t.client.Do(request)
	if err != nil {
		return nil, cause(ctx, err)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		defer response.Body.Close()
		refusal := lw.ReadStatusError(response.StatusCode, response.Header.Get("Retry-After"), response.Body)
		return nil, cause(ctx, refusal)
	}
	return &body{ReadCloser: response.Body, ctx: ctx}, nil
}

// body tells the cause of a context's end rather than that it ended.
type body struct {
	io.ReadCloser
	ctx context.Context
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = cause(b.ctx, err)
	}
	return n, err
}

func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// guard is a RoundTripper that adds the credential to requests for the server's own origin, and to no others.
type guard struct {
	server    *url.URL
	trusted   http.RoundTripper // has the client certificate
	bare      http.RoundTripper // has none; nil when the caller's client is used
	token     tokenSource
	header    http.Header
	userAgent string
}

func (g *guard) RoundTrip(original *http.Request) (*http.Response, error) {
	request := original.Clone(original.Context())
	request.Header.Set("User-Agent", g.userAgent)
	if origin(request.URL) != origin(g.server) {
		request.Header.Del("Authorization")
		if g.bare == nil {
			return g.trusted.RoundTrip(request)
		}
		return g.bare.RoundTrip(request)
	}
	for name, values := range g.header {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	token, err := g.token(request.Context())
	if err != nil {
		return nil, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return g.trusted.RoundTrip(request)
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

// CloseIdleConnections is what http.Client.CloseIdleConnections looks for.
func (g *guard) CloseIdleConnections() {
	for _, t := range []http.RoundTripper{g.trusted, g.bare} {
		if c, ok := t.(interface{ CloseIdleConnections() }); ok {
			c.CloseIdleConnections()
		}
	}
}
