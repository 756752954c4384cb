package http

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/jsx"
	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Transport is an [lw.Transport] over fetch. All methods may be called concurrently.
type Transport struct {
	server string // without a trailing slash
	opts   Options
}

var _ lw.Transport = (*Transport)(nil)

// New returns a transport to the API server at a URL such as "https://127.0.0.1:6443". The URL may have a path, which
// is added before the path of each request. opts may be nil. New does not send requests.
func New(server string, opts *Options) (*Transport, error) {
	t := &Transport{server: strings.TrimSuffix(server, "/")}
	if opts != nil {
		t.opts = *opts
	}
	if err := t.opts.validate(server); err != nil {
		return nil, err
	}
	return t, nil
}

// Close does nothing, because the browser manages its connections.
func (t *Transport) Close() {}

// Open implements [lw.Transport]. Reads of the body fail after ctx is done.
func (t *Transport) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	url, token, err := t.Address(ctx, req)
	if err != nil {
		return nil, err
	}
	b, err := t.fetch(ctx, url, token, req)
	if rejected, ok := errors.AsType[*lw.StatusError](err); ok && rejected.Code == 401 && t.opts.TokenFunc != nil {
		_, fresh, failure := t.Address(ctx, req)
		if failure == nil && fresh != token { // with the same token, a second request would fail in the same way
			return t.fetch(ctx, url, fresh, req)
		}
	}
	return b, err
}

// Address returns the URL and the bearer token of a request. Transports that open their own connections, such as
// package ws, need them.
func (t *Transport) Address(ctx context.Context, req *lw.Request) (url, token string, err error) {
	if req.Path != "" && req.Path[0] != '/' {
		return "", "", errPath
	}
	url = t.server + req.Path + "?" + req.Query
	token = t.opts.Token
	if t.opts.TokenFunc != nil {
		token, err = t.opts.TokenFunc(ctx)
	}
	if !isToken(token) {
		return "", "", errors.New("http: the token contains an invalid character")
	}
	return url, token, err
}

func (t *Transport) fetch(ctx context.Context, url, token string, req *lw.Request) (*lw.Response, error) {
	stream := jsx.NewStream(ctx, url)
	stream.Add("Accept", cmp.Or(req.Accept, "application/json"))
	if req.IfNoneMatch != "" {
		stream.Add("If-None-Match", req.IfNoneMatch)
	}
	if req.Watch {
		// With gzip, each event would be delayed until the next one. The header has an effect only in Node.js, because browsers
		// ignore it.
		stream.Add("Accept-Encoding", "identity")
	}
	for name, values := range t.opts.Header {
		for _, value := range values {
			stream.Add(name, value)
		}
	}
	if token != "" {
		stream.Add("Authorization", "Bearer "+token)
	}
	b := &body{stream, ctx, append(headerSecrets(t.opts.Header), token)}
	response := &lw.Response{ReadCloser: b, Redact: b.secrets.Text}
	status, err := stream.Fetch(t.opts.Credentials)
	switch {
	case err == nil && status == 206:
		err = errPartial
	case err == nil && (status < 200 || status > 299):
		err = lw.ReadStatusError(status, retryAfter(stream.RetryAfter(), time.Now()), b, b.secrets.Text)
	}
	if err != nil {
		_ = stream.Close()
		return nil, b.explain(err, "no response: the server may be down or untrusted, or may not allow the origin of the page (CORS): ")
	}
	response.ETag = stream.ETag()
	return response, nil
}

// body wraps the response body of fetch, so that its errors contain no secrets. After ctx is done, reads return the
// cause of ctx.
type body struct {
	*jsx.Stream
	ctx     context.Context
	secrets redact.Secrets
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.Stream.Read(p)
	return n, b.explain(err, "the response was interrupted: ")
}

// explain returns the cause of the context if the context is done. Otherwise it returns err with a prefix and without
// secrets.
func (b *body) explain(err error, prefix string) error {
	if err != nil && b.ctx.Err() != nil {
		return context.Cause(b.ctx)
	}
	if failure, ok := errors.AsType[*jsx.Failure](err); ok {
		return errors.New("http: " + prefix + b.secrets.Text(failure.Text))
	}
	return err
}
