//go:build !js

package http

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// recheckInterval is the time after which a request reads the credential files again, because another program may have
// rotated them.
const recheckInterval = time.Minute

// credentials contains the round trippers and the token of a request. They are in one struct, because a request must
// not combine the token of one credential with the certificate of another.
type credentials struct {
	*roundTrippers
	token      string
	credential *Credential // the Credential from the CredentialFunc, or nil
}

// credentials returns the credentials for the first attempt of a request. sameOrigin reports whether the request goes to
// the server's own origin.
func (t *state) credentials(ctx context.Context, sameOrigin bool) (credentials, error) {
	if sameOrigin && t.opts.CredentialFunc != nil {
		return t.callCredentialFunc(ctx, nil)
	}
	c, err := t.current(ctx, credentials{})
	if err == nil && sameOrigin && t.opts.TokenFunc != nil {
		c.token, err = t.opts.TokenFunc(ctx)
	}
	return c, err
}

// callCredentialFunc calls the CredentialFunc. It returns the function's token, and round trippers that use the
// function's client certificate. `rejected` is the credential that caused a 401, or nil for a first attempt.
func (t *state) callCredentialFunc(ctx context.Context, rejected *Credential) (credentials, error) {
	given, err := t.opts.CredentialFunc(ctx, rejected)
	if err != nil {
		return credentials{}, &credentialError{err}
	}
	if given == nil {
		given = &Credential{}
	}
	return t.current(ctx, credentials{credential: given})
}

// credentialError wraps an error from the CredentialFunc, so that the function `cause` can recognize the error.
type credentialError struct{ error }

func (n *credentialError) Unwrap() error { return n.error }

// renew returns new credentials after a failed request. It reads the files again after any failure, because the server
// may have rejected the certificate. In TLS 1.3, such a rejection often appears only as a broken connection. renew
// calls a TokenFunc after a 401, or if the certificates have changed. It calls a CredentialFunc only after a 401,
// because a CredentialFunc may prompt the user.
func (t *state) renew(ctx context.Context, used credentials, sameOrigin, unauthorized bool) (credentials, error) {
	fresh, err := t.current(ctx, used)
	if err != nil {
		return used, nil // so that RoundTrip returns the first failure
	}
	if t.opts.CredentialFunc != nil && unauthorized {
		return t.callCredentialFunc(ctx, used.credential)
	}
	if t.opts.TokenFunc == nil {
		return fresh, nil
	}
	fresh.token = used.token // without a new token, the request fails with its own error, which is more useful
	if unauthorized || sameOrigin && fresh.roundTrippers != used.roundTrippers {
		if token, err := t.opts.TokenFunc(ctx); err == nil {
			fresh.token = cmp.Or(token, used.token)
		}
	}
	return fresh, nil
}

// current returns the credentials for a request, but does not call a TokenFunc. If used.credential is not nil, the
// result contains that credential. After a failed request, `used` also contains its round trippers. current then reads
// the files with the credentials again, unless another request has already replaced the credentials.
func (t *state) current(ctx context.Context, used credentials) (credentials, error) {
	now, due, err := t.check(used)
	if err != nil || !due {
		return now, err
	}
	select {
	case t.reading <- struct{}{}:
	case <-ctx.Done():
		return credentials{}, context.Cause(ctx)
	}
	done := make(chan struct{})
	var replaced credentials
	go func() { // in a goroutine, because the read may block, but the request must end when its context is done
		defer close(done)
		defer func() { <-t.reading }()
		replaced, err = t.replaceIfStale(used)
	}()
	select {
	case <-done:
		return replaced, err
	case <-ctx.Done():
		return credentials{}, context.Cause(ctx)
	}
}

// check returns the credentials in use for a request. `due` reports whether these credentials may be out of date. This
// is the case if used.credential contains another certificate, if a request with these credentials has failed, or if
// the files were last read at least a minute ago.
func (t *state) check(used credentials) (now credentials, due bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now = t.active
	failed := used.roundTrippers == now.roundTrippers && (t.opts.TokenFile == "" || used.token == now.token)
	if t.opts.CAFile != "" || t.opts.CertFile != "" || t.opts.TokenFile != "" {
		due = failed || time.Since(t.checkedAt) >= recheckInterval
	}
	if given := used.credential; given != nil {
		now.token, now.credential = given.Token, given
		other := now.files.with(given) != now.files
		if due = due || other; other && t.opts.Client != nil {
			err = errors.New("http: if Client is set, CredentialFunc must not return a certificate")
		}
	}
	return now, due, err
}

// replaceIfStale replaces the round trippers and the token if the credential or the files have changed. It returns the
// credentials in use. If a file is invalid, its previous contents stay in use. The caller holds t.reading.
func (t *state) replaceIfStale(used credentials) (credentials, error) {
	now, due, err := t.check(used)
	if wanted := now.files.with(used.credential); err == nil && wanted != now.files {
		err = t.replace(wanted)
		now, due, _ = t.check(used)
	}
	if err != nil || !due {
		return now, err
	}
	t.mu.Lock()
	t.checkedAt = time.Now() // before reading, so that other requests use the old credentials in the meantime
	t.mu.Unlock()
	if found, err := t.readPEM(now.files); err == nil && found != now.files {
		// An error means that the files are being replaced and do not match yet, so the old contents stay in use.
		_ = t.replace(found)
	}
	if token, err := t.readToken(); err == nil && token != "" {
		t.mu.Lock()
		t.active.token = token
		t.mu.Unlock()
	}
	now, _, _ = t.check(credentials{credential: used.credential})
	return now, nil
}

// replace creates new round trippers and puts them to use. Open responses keep their connections.
func (t *state) replace(with files) error {
	made, err := t.opts.newRoundTrippers(with, t.server)
	if err != nil {
		return err
	}
	t.mu.Lock()
	before := t.active.roundTrippers
	t.active.roundTrippers = made
	t.mu.Unlock()
	before.closeIdle() // without the lock, because closing a TLS connection may take seconds
	return nil
}

// initialCredentials reads all files, so that New reports a missing or invalid file.
func (t *state) initialCredentials() (c credentials, err error) {
	if c.token, err = t.readToken(); err != nil {
		return c, err
	}
	if t.opts.TokenFile == "" {
		c.token = t.opts.Token
	}
	if t.opts.Client != nil {
		custom := cmp.Or(t.opts.Client.Transport, http.DefaultTransport)
		c.roundTrippers = &roundTrippers{authenticated: custom, anonymous: custom}
		return c, nil
	}
	found, err := t.readPEM(files{ca: string(t.opts.CAData), cert: string(t.opts.CertData), key: string(t.opts.KeyData)})
	if err == nil {
		c.roundTrippers, err = t.opts.newRoundTrippers(found, t.server)
	}
	return c, err
}

// files is the PEM data of the certificate authorities, the client certificate and its key.
type files struct{ ca, cert, key string }

// with returns a copy of f with the client certificate of credential. If credential is nil, it returns f.
func (f files) with(credential *Credential) files {
	if credential != nil {
		f.cert, f.key = string(credential.CertData), string(credential.KeyData)
	}
	return f
}

// readPEM returns a copy of f with the current contents of the files.
func (t *state) readPEM(f files) (files, error) {
	for _, file := range []struct {
		name, path string
		data       []byte // PEM data from the options, which overrides the file
		into       *string
	}{
		{"certificate authority file", t.opts.CAFile, t.opts.CAData, &f.ca},
		{"client certificate file", t.opts.CertFile, t.opts.CertData, &f.cert},
		{"client key file", t.opts.KeyFile, t.opts.KeyData, &f.key},
	} {
		if file.path == "" || len(file.data) > 0 {
			continue
		}
		text, err := t.readFile(file.name, file.path)
		if err == nil && !isCompletePEM(text) {
			err = fmt.Errorf("%s %q is truncated", file.name, file.path)
		}
		if err != nil {
			return f, fileError(file.name, err)
		}
		*file.into = string(text)
	}
	return f, nil
}

// readToken returns the contents of the token file, or "" if the options name none.
func (t *state) readToken() (string, error) {
	const name = "token file"
	if t.opts.TokenFile == "" {
		return "", nil
	}
	text, err := t.readFile(name, t.opts.TokenFile)
	if err != nil {
		return "", fileError(name, err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", fmt.Errorf("http: token file %q is empty", t.opts.TokenFile)
	}
	return token, nil
}

// fileError adds the purpose of the file, for example "token file", to err. The text of err already contains the path.
func fileError(name string, err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("http: %s: %w", name, err)
	}
	return fmt.Errorf("http: %w", err)
}

// isCompletePEM returns false if text ends with a truncated PEM block. This happens if a file is read while another
// program writes it.
func isCompletePEM(text []byte) bool {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		text = rest
	}
	return !bytes.Contains(text, []byte("-----BEGIN "))
}

// roundTrippers contains the http.RoundTrippers for one version of the certificate files. It is immutable.
type roundTrippers struct {
	authenticated http.RoundTripper // sends the client certificate; used for requests to the server
	anonymous     http.RoundTripper // sends no client certificate; used for redirects to other origins
	owned         []*http.Transport // closed by closeIdle; empty if Options.Client is set
	files         files
}

func (r *roundTrippers) closeIdle() {
	for _, t := range r.owned {
		t.CloseIdleConnections()
	}
}

func (o *Options) newRoundTrippers(f files, server *url.URL) (*roundTrippers, error) {
	bare := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: o.InsecureSkipVerify}
	if o.CAFile != "" || len(o.CAData) > 0 {
		bare.RootCAs = x509.NewCertPool()
		if !bare.RootCAs.AppendCertsFromPEM([]byte(f.ca)) {
			return nil, errors.New("http: the certificate authority contains no PEM certificate")
		}
	}
	trusted := bare.Clone()
	trusted.ServerName = o.ServerName
	if o.CertFile != "" || f.cert != "" || f.key != "" {
		certificate, err := tls.X509KeyPair([]byte(f.cert), []byte(f.key))
		if err != nil {
			return nil, fmt.Errorf("http: the client certificate: %w", err)
		}
		// With Config.Certificates, crypto/tls would withhold the certificate if the server requests a different
		// issuer.
		trusted.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil }
	}
	toProxy, err := o.proxy()
	if err != nil {
		return nil, err
	}
	toServer, toOthers := newTransport(trusted, toProxy, o), newTransport(bare, toProxy, o)
	if proxy, err := toProxy(&http.Request{URL: server}); err == nil && proxy != nil && proxy.Scheme == "https" {
		// If DialTLSContext is set, net/http uses TLSClientConfig only for the server. Otherwise, net/http would also use the
		// server's ServerName, client certificate and HTTP/2 for an HTTPS proxy.
		toServer.DialTLSContext = (&tls.Dialer{NetDialer: dialer, Config: bare.Clone()}).DialContext
	}
	return &roundTrippers{newBoundedDialer(toServer, server.Scheme), toOthers, []*http.Transport{toServer, toOthers}, f}, nil
}

// dialer has the timeouts of http.DefaultTransport.
var dialer = &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}

// pings detect a dead HTTP/2 connection within 45 seconds. HTTP/1.1 has no pings, so only the idle timeout of the
// stream detects a dead connection.
var pings = &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second}

// newTransport returns a transport with the timeouts of http.DefaultTransport. Its limit on response headers is lower
// than the 10 MiB of net/http, to bound the memory that a hostile server can use.
func newTransport(config *tls.Config, proxy func(*http.Request) (*url.URL, error), o *Options) *http.Transport {
	return &http.Transport{
		Proxy:                  proxy,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		TLSClientConfig:        config,
		ForceAttemptHTTP2:      !o.DisableHTTP2,
		HTTP2:                  pings,
		DisableCompression:     o.DisableCompression,
		MaxIdleConnsPerHost:    8, // lists run concurrently with watches and need separate connections
		MaxResponseHeaderBytes: 1 << 20,
		IdleConnTimeout:        90 * time.Second,
		ReadBufferSize:         1 << 10, // small, because each HTTP/1.1 watch holds both buffers for hours; larger reads bypass them
		WriteBufferSize:        1 << 10,
	}
}
