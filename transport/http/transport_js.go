package http

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/jsx"
	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Transport is a [lw.Transport] over fetch. All methods may run concurrently.
type Transport struct {
	server string // without a slash at its end
	opts   Options
}

var _ lw.Transport = (*Transport)(nil)

// New returns a transport to the API server at a URL such as "https://127.0.0.1:6443", which may have a path in front of
// the API's. opts may be nil. Nothing is sent yet.
func New(server string, opts *Options) (*Transport, error) {
	t := &Transport{server: server}
	if opts != nil {
		t.opts = *opts
	}
	if err := t.opts.validate(server); err != nil {
		return nil, err
	}
	if t.server[len(server)-1] == '/' {
		t.server = server[:len(server)-1]
	}
	return t, nil
}

// Close does nothing: a browser looks after its connections itself.
func (t *Transport) Close() {}

// Open implements [lw.Transport]. The body ends with an error when ctx ends. Its next part is asked for when the one before
// has been read.
func (t *Transport) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	url, token, err := t.Address(ctx, req)
	if err != nil {
		return nil, err
	}
	b, err := t.fetch(ctx, url, token, req)
	if refusal, ok := errors.AsType[*lw.StatusError](err); ok && refusal.Code == 401 && t.opts.TokenFunc != nil {
		_, fresh, failure := t.Address(ctx, req)
		if failure == nil && fresh != token { // else the refusal says more
			return t.fetch(ctx, url, fresh, req)
		}
	}
	return b, err
}

// Address returns where a request goes, and the bearer token that belongs to it, for a transport that opens connections of
// its own.
func (t *Transport) Address(ctx context.Context, req *lw.Request) (url, token string, err error) {
	if req.Path != "" && req.Path[0] != '/' {
		return "", "", errPath
	}
	url = t.server + req.Path + "?" + req.Query
	if token = t.opts.Token; t.opts.TokenFunc != nil {
		token, err = t.opts.TokenFunc(ctx)
	}
	if !isToken(token) {
		return "", "", errors.New("http: the token has a character that no header may have")
	}
	return url, token, err
}

func (t *Transport) fetch(ctx context.Context, url, token string, req *lw.Request) (io.ReadCloser, error) {
	stream := jsx.NewStream(url)
	accept := req.Accept
	if accept == "" {
		accept = "application/json"
	}
	stream.Add("Accept", accept)
	if req.Watch {
		stream.Add("Accept-Encoding", "identity") // in Node; a browser does not let a page choose
	}
	for name, values := range t.opts.Header {
		for _, value := range values {
			stream.Add(name, value)
		}
	}
	if token != "" {
		stream.Add("Authorization", "Bearer "+token)
	}
	b := &body{ctx: ctx, stream: stream, secrets: append(headerSecrets(t.opts.Header), token)}
	status, err := stream.Fetch(ctx, t.opts.Credentials)
	if err == nil && (status < 200 || status > 299) {
		err = lw.ReadStatusError(status, retryAfter(stream.RetryAfter(), time.Now()), b)
	}
	if err != nil {
		stream.Close()
		return nil, b.explain(err, "no answer from the server, which may be down, not trusted, or, of a page, not allow its origin (CORS): ")
	}
	return b, nil
}

// body is the body of a response.
type body struct {
	ctx     context.Context
	stream  *jsx.Stream
	secrets redact.Secrets
}

// Redact removes the credential of the request from text. See package redact.
func (b *body) Redact(text string) string { return b.secrets.Text(text) }

func (b *body) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := b.stream.Read(b.ctx, p)
	if err == nil && n == 0 {
		err = io.EOF
	}
	return n, b.explain(err, "the response broke off: ")
}

// Close ends the request.
func (b *body) Close() error {
	b.stream.Close()
	return nil
}

// explain adds what failed to the text of the host, without the secrets. The cause of a context that ended comes first.
func (b *body) explain(err error, what string) error {
	if err != nil && b.ctx.Err() != nil {
		return context.Cause(b.ctx)
	}
	if failure, ok := errors.AsType[*jsx.Failure](err); ok {
		return errors.New("http: " + what + b.Redact(failure.Text))
	}
	return err
}
