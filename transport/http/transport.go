//go:build !js

package http

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Transport is an [lw.Transport] over HTTP. All methods may be called concurrently. Over HTTP/2, requests share
// connections.
type Transport struct {
	client        http.Client // a template; Open copies it and sets the Transport field of the copy
	authenticator *authenticator
}

var _ lw.Transport = (*Transport)(nil)

// New returns a transport for the API server at a URL such as "https://127.0.0.1:6443". The URL may have a path, which
// is added before the path of each request. opts may be nil. New sends no requests. It reads the files to report
// configuration errors early.
func New(server string, opts *Options) (*Transport, error) {
	if opts == nil {
		opts = &Options{}
	}
	parsed, err := url.Parse(server)
	if err != nil {
		return nil, errors.New("http: the server's URL is invalid: it must look like https://host:port") // the error of url.Parse is omitted, because it may contain a password
	}
	if err := opts.validate(parsed); err != nil {
		return nil, err
	}
	guard := &authenticator{
		server: parsed, credentialFunc: opts.CredentialFunc, header: http.Header(opts.Header).Clone(), userAgent: cmp.Or(opts.UserAgent, "listwatch"),
	}
	proxies, err := opts.proxySecrets(parsed)
	if err != nil {
		return nil, err
	}
	guard.secrets = append(proxies, headerSecrets(opts.Header)...)
	if guard.token, err = newTokenSource(opts); err != nil {
		return nil, err
	}
	if guard.transports, err = newTransportSource(opts, parsed); err != nil {
		return nil, err
	}
	t := &Transport{authenticator: guard}
	t.client.CheckRedirect = follow
	if opts.Client != nil {
		t.client = *opts.Client
	}
	return t, nil
}

// Close closes idle connections. Open responses stay usable. Close does nothing if [Options.Client] is set, because
// other code may use its connections.
func (t *Transport) Close() {
	if !t.authenticator.transports.callerOwned {
		t.authenticator.transports.active.Load().closeIdle()
	}
}

// Open implements [lw.Transport]. Reads of the body fail after ctx is done.
func (t *Transport) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	response, secrets, err := t.do(ctx, req, nil)
	if err != nil {
		return nil, err
	}
	return &body{ReadCloser: response.Body, ctx: ctx, secrets: secrets}, nil
}

// do sends a request with additional headers. The status 206 and all except 101 and 2xx are errors. do also returns the
// secrets in the request, so that the caller can redact them.
func (t *Transport) do(ctx context.Context, req *lw.Request, header http.Header) (_ *http.Response, secrets redact.Secrets, _ error) {
	request, err := t.request(ctx, req, header)
	if err != nil {
		return nil, nil, err
	}
	client, tried := t.client, t.authenticator.attempt()
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
func (t *Transport) request(ctx context.Context, req *lw.Request, header http.Header) (*http.Request, error) {
	if req.Path != "" && req.Path[0] != '/' {
		return nil, errPath
	}
	target := strings.TrimSuffix(t.authenticator.server.String(), "/") + req.Path
	if req.Query != "" {
		target += "?" + req.Query
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", cmp.Or(req.Accept, "application/json"))
	if req.Watch {
		// With gzip, each event would be delayed until the next event. Kubernetes 1.37 sends each flush of a streaming
		// list as a gzip member, and compress/gzip returns the end of a member only after the start of the next.
		request.Header.Set("Accept-Encoding", "identity")
	}
	maps.Copy(request.Header, header)
	return request, nil
}

// body is a response body. Its errors contain no secrets. After ctx is done, reads return the cause of ctx.
type body struct {
	io.ReadCloser
	ctx     context.Context
	secrets redact.Secrets
}

// Redact removes the credential of the request from text. See package redact.
func (b *body) Redact(text string) string { return b.secrets.Text(text) }

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = cause(b.ctx, b.secrets.Error(err))
	}
	return n, err
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
