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

// Transport is a [lw.Transport] over HTTP. All methods may run concurrently. Over HTTP/2 its requests share a connection.
type Transport struct {
	client        http.Client // without its Transport, which each Open sets for itself
	authenticator *authenticator
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
		return nil, errors.New("http: the server's URL does not parse: it must look like https://host:port") // and may hold a password
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

// Close closes idle connections, and ends the dials that nobody waits for any more. Responses that are being read stay
// open. With a Client of the caller's it does nothing: that one's connections may serve others, too.
func (t *Transport) Close() {
	if !t.authenticator.transports.callerOwned {
		t.authenticator.transports.active.Load().closeIdle()
	}
}

// Open implements [lw.Transport]. The body ends with an error when ctx ends.
func (t *Transport) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	response, secrets, err := t.do(ctx, req, nil)
	if err != nil {
		return nil, err
	}
	return &body{ReadCloser: response.Body, ctx: ctx, secrets: secrets}, nil
}

// do makes a request with additional headers. A status that is not a success is an error. secrets are the credentials that
// were sent; the returned error has none of them.
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
	if response.StatusCode != http.StatusSwitchingProtocols && (response.StatusCode < 200 || response.StatusCode > 299) {
		defer response.Body.Close()
		return nil, nil, cause(ctx, tried.responseError(response))
	}
	return response, tried.secrets, nil
}

// request returns the request of net/http, without the credential.
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
		// Compressed, each event would wait for the one after it: Kubernetes 1.37 compresses a streaming list as a gzip member
		// for each flush, and compress/gzip gives out a member's end when it has seen the next one's beginning.
		request.Header.Set("Accept-Encoding", "identity")
	}
	maps.Copy(request.Header, header)
	return request, nil
}

// body is the body of a response. Its errors are the context's cause, or have no secrets.
type body struct {
	io.ReadCloser
	ctx     context.Context
	secrets redact.Secrets
}

// Redact is for [lw.Redact].
func (b *body) Redact(text string) string { return b.secrets.Text(text) }

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = cause(b.ctx, b.secrets.Error(err))
	}
	return n, err
}

// cause returns a context's, if it has ended; within what was waited for, if that was a credential, and it says so.
func cause(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if failed, ok := errors.AsType[*credentialError](err); ok && errors.Is(failed.error, context.Cause(ctx)) {
		return failed.error
	}
	return context.Cause(ctx)
}
