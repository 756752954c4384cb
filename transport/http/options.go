//go:build !js

package http

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
)

// Options configures a [Transport]. The zero value is valid and sends no credentials.
type Options struct {
	// Client, if not nil, sends the requests with its own transport, redirect policy and cookie jar. The TLS fields,
	// Proxy, DisableCompression and DisableHTTP2 must then be empty. Client.Timeout must be zero, because it would end every watch.
	Client *http.Client

	// CAFile is a PEM file with the certificate authorities for the server and for proxies. It may be rotated. By default,
	// the system's roots apply.
	CAFile   string
	CAData   []byte // PEM certificate authorities; overrides CAFile
	CertFile string // PEM file with the client certificate; may be rotated
	KeyFile  string // PEM file with the private key of CertFile; may be rotated
	CertData []byte // PEM client certificate; overrides CertFile
	KeyData  []byte

	ServerName         string // name in the server's certificate if it differs from the host in the URL
	InsecureSkipVerify bool   // accepts any certificate; a man in the middle can then read the token

	Token     string                                // bearer token
	TokenFile string                                // file with the bearer token; may be rotated
	TokenFunc func(context.Context) (string, error) // returns the bearer token; called for every request, and again after a 401

	// CredentialFunc returns the token, the client certificate, or both. These replace all other credentials. The
	// transport calls CredentialFunc for every request, with rejected == nil, and again after a 401, with the rejected
	// credential. If that second call returns a different credential, the transport retries the request once. A different
	// certificate requires new connections. If CredentialFunc returns an error, the request fails with that error.
	CredentialFunc func(ctx context.Context, rejected *Credential) (*Credential, error)

	// Proxy is the "http", "https" or "socks5" URL of a proxy for all requests. By default the environment variables
	// apply, for example HTTPS_PROXY.
	Proxy string

	// Header contains additional headers for every request, for example Impersonate-User. The User-Agent is "listwatch"
	// by default. Servers indent lists for a User-Agent that starts with Mozilla/5.0, curl or Wget, unless the
	// query contains pretty=false, as that of an lw.Client does.
	Header map[string][]string

	DisableCompression bool // disables gzip-compressed responses

	// DisableHTTP2 makes all requests use HTTP/1.1. A busy watch then takes less CPU time, but each watch needs its own
	// connection, and only idle timeouts detect a dead connection. Plain "http" URLs always use HTTP/1.1.
	DisableHTTP2 bool
}

// Format prints no fields, whatever the fmt verb, because options are often logged and may contain secrets.
func (Options) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "http.Options{…}") }

// Credential contains the credentials that a CredentialFunc returns. Empty fields are not sent. The transport does not
// modify a Credential. Encoding a Credential as JSON omits the fields, so that logs contain no secrets.
type Credential struct {
	Token    string `json:"-"` // bearer token
	CertData []byte `json:"-"` // PEM client certificate
	KeyData  []byte `json:"-"` // PEM private key
}

// Format prints no fields, whatever the fmt verb.
func (Credential) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "http.Credential{…}") }

func (o *Options) validate(server *url.URL) error {
	certificate, key := o.CertFile != "" || len(o.CertData) > 0, o.KeyFile != "" || len(o.KeyData) > 0
	tls := o.CAFile != "" || len(o.CAData) > 0 || certificate || key || o.InsecureSkipVerify || o.ServerName != ""
	_, portErr := strconv.ParseUint(cmp.Or(server.Port(), "0"), 10, 16)
	token := o.Token != "" || o.TokenFile != "" || o.TokenFunc != nil
	severalTokens := o.Token != "" && o.TokenFile != "" || o.TokenFunc != nil && (o.Token != "" || o.TokenFile != "")
	switch {
	case server.Scheme != "http" && server.Scheme != "https" || server.Hostname() == "":
		// The error omits the URL. The password in a URL such as user:password@host cannot be redacted, because url.Parse
		// does not find a user in this URL.
		return errors.New("http: the server's URL must look like https://host:port")
	case portErr != nil:
		return errors.New("http: the server's URL has a port above 65535")
	case server.User != nil || server.RawQuery != "" || server.ForceQuery || server.Fragment != "":
		return errors.New("http: the server's URL must not have a user, a query or a fragment")
	case severalTokens:
		return errors.New("http: only one of Token, TokenFile and TokenFunc may be set")
	case o.CredentialFunc != nil && (token || certificate || key):
		return errors.New("http: CredentialFunc cannot be combined with a token or a client certificate")
	case !isToken(o.Token):
		return errors.New("http: the token contains an invalid character")
	case (o.CredentialFunc != nil || token) && http.Header(o.Header).Get("Authorization") != "":
		return errors.New("http: Header must not contain Authorization if a token or CredentialFunc is set")
	case certificate != key:
		return errors.New("http: a client certificate and its key must be set together")
	case (len(o.CertData) > 0) != (len(o.KeyData) > 0):
		return errors.New("http: set a client certificate and its key both as files or both as data")
	case o.Client != nil && (tls || o.DisableCompression || o.DisableHTTP2 || o.Proxy != ""):
		return errors.New("http: if Client is set, configure TLS, proxies, compression and HTTP/2 in its transport")
	case o.Client != nil && o.Client.Timeout != 0:
		return errors.New("http: Client.Timeout must be zero because it would end every watch; use contexts instead")
	}
	_, err := o.proxy()
	return err
}

// fromEnvironment returns the proxy that http.ProxyFromEnvironment selects. Its error omits the URL, which may contain
// a password.
func fromEnvironment(request *http.Request) (*url.URL, error) {
	proxy, err := http.ProxyFromEnvironment(request)
	if err != nil {
		return nil, errors.New("http: the proxy's URL in the environment is invalid: it must look like http://host:port")
	}
	return proxy, nil
}

// proxy returns the function for http.Transport.Proxy, which selects the proxy of a request.
func (o *Options) proxy() (func(*http.Request) (*url.URL, error), error) {
	if o.Proxy == "" {
		return fromEnvironment, nil
	}
	proxy, err := url.Parse(o.Proxy)
	if err != nil || proxy.Hostname() == "" || proxy.Scheme != "http" && proxy.Scheme != "https" && proxy.Scheme != "socks5" {
		// The error omits the URL, because it may contain a password.
		return nil, errors.New("http: the proxy's URL must look like http://host:port, https://host:port or socks5://host:port")
	}
	return http.ProxyURL(proxy), nil
}

// proxySecrets returns the proxy passwords that requests to the server may use. A proxy may repeat its password in an
// error.
func (o *Options) proxySecrets(server *url.URL) (secrets redact.Secrets, err error) {
	toProxy, err := o.proxy()
	if o.Client != nil {
		toProxy = nil
		if known, ok := cmp.Or(o.Client.Transport, http.DefaultTransport).(*http.Transport); ok {
			toProxy = known.Proxy
		}
	}
	if err != nil || toProxy == nil {
		return nil, err
	}
	for _, scheme := range []string{"http", "https"} { // a redirect to another scheme may use another proxy
		proxy, err := toProxy(&http.Request{URL: &url.URL{Scheme: scheme, Host: server.Host}})
		if err != nil || proxy == nil {
			continue // the request will fail with the same error
		}
		if password, ok := proxy.User.Password(); ok {
			basic := base64.StdEncoding.EncodeToString([]byte(proxy.User.Username() + ":" + password))
			secrets = append(secrets, password, basic)
		}
	}
	return secrets, nil
}
