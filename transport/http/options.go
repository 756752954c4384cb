//go:build !js

package http

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Options configure a [Transport]. The zero value is good for a server without authentication.
type Options struct {
	// Client makes the requests in place of one of our own, with its transport, its redirect policy and its jar. The TLS
	// fields, Proxy and DisableCompression must then be empty: they are its transport's business. Its Timeout must be zero,
	// as it would end every watch.
	Client *http.Client

	CAFile   string // PEM, for proxies, too; empty means the system's roots, unless CAData is set. It may rotate
	CAData   []byte // PEM, in place of a file
	CertFile string // PEM client certificate. It may rotate
	KeyFile  string // its key
	CertData []byte // PEM, in place of the files
	KeyData  []byte

	ServerName         string // the name to verify in place of the URL's host
	InsecureSkipVerify bool   // accept any certificate: whoever is in the middle can read the token

	Token     string                                // bearer token
	TokenFile string                                // a file that holds one. It may rotate
	TokenFunc func(context.Context) (string, error) // asked for every request, and once more after a 401

	// CredentialFunc is asked for every request in place of a token and a client certificate, as it may give either or both.
	// refused is nil, but for a request that was answered by 401: then it is what was sent, and the request is sent once more
	// if something else is given. Another certificate means new connections. It fails as the request does.
	CredentialFunc func(ctx context.Context, refused *Credential) (*Credential, error)

	// Proxy is the URL of a proxy for all requests, "http", "https" or "socks5", in place of those that the environment names.
	Proxy string

	Header    map[string][]string // sent with every request, as Impersonate-User
	UserAgent string              // "listwatch" if empty. One that begins with Mozilla/5.0, curl or Wget makes servers indent lists

	DisableCompression bool // do not ask for gzip
}

// Credential is what a CredentialFunc gives. What is empty is not sent. It is not changed.
type Credential struct {
	Token    string // bearer token
	CertData []byte // PEM client certificate
	KeyData  []byte // its key
}

// caFile and certFile are the paths that are read; "" where there is none, or data in its place.
func (o *Options) caFile() string {
	if len(o.CAData) > 0 {
		return ""
	}
	return o.CAFile
}

func (o *Options) certFile() string {
	if len(o.CertData) > 0 {
		return ""
	}
	return o.CertFile
}

// validate finds options that contradict each other.
func (o *Options) validate(server *url.URL) error {
	certificate, key := o.CertFile != "" || len(o.CertData) > 0, o.KeyFile != "" || len(o.KeyData) > 0
	tls := o.CAFile != "" || len(o.CAData) > 0 || certificate || key || o.InsecureSkipVerify || o.ServerName != ""
	tokens := 0
	for _, set := range []bool{o.Token != "", o.TokenFile != "", o.TokenFunc != nil} {
		if set {
			tokens++
		}
	}
	switch {
	case server.Scheme != "http" && server.Scheme != "https" || server.Hostname() == "":
		// It is not shown: "user:password@host" parses as a URL without a user, which cannot be redacted.
		return errors.New("http: the server's URL must look like https://host:port")
	case server.Port() != "" && !isPort(server.Port()):
		return errors.New("http: the server's URL has a port above 65535")
	case server.User != nil || server.RawQuery != "" || server.ForceQuery || server.Fragment != "":
		return errors.New("http: the server's URL must not have a user, a query or a fragment")
	case tokens > 1:
		return errors.New("http: only one of Token, TokenFile and TokenFunc may be set")
	case o.CredentialFunc != nil && (tokens > 0 || certificate || key):
		return errors.New("http: with CredentialFunc set, there is no other token and no other client certificate")
	case !isToken(o.Token):
		return errors.New("http: the token has a character that no header may have")
	case (o.CredentialFunc != nil || tokens > 0) && http.Header(o.Header).Get("Authorization") != "":
		return errors.New("http: beside a token, or CredentialFunc, Header must not have Authorization")
	case certificate != key:
		return errors.New("http: a client certificate and its key must be set together")
	case (len(o.CertData) > 0) != (len(o.KeyData) > 0):
		return errors.New("http: set a client certificate and its key both as files or both as data")
	case o.Client != nil && (tls || o.DisableCompression || o.Proxy != ""):
		return errors.New("http: with Client set, TLS, proxies and compression are configured in its transport")
	case o.Client != nil && o.Client.Timeout != 0:
		return errors.New("http: Client.Timeout would end every watch: set it to zero and use contexts")
	}
	if _, err := o.proxy(); err != nil {
		return err
	}
	return o.validateHeader()
}

func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// validateHeader finds what no request may have, as each would fail. Values are not shown, as they may be secret.
func (o *Options) validateHeader() error {
	if hasControl(o.UserAgent) {
		return errors.New("http: UserAgent has a character that no header may have")
	}
	for name, values := range o.Header {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool {
			return r <= ' ' || r > '~' || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r) // what is no token in RFC 9110, 5.6.2
		}) {
			return fmt.Errorf("http: Header has the name %q, which no header may have", name)
		}
		if slices.ContainsFunc(values, hasControl) {
			return fmt.Errorf("http: the header %s has a character that no header may have", name)
		}
	}
	return nil
}

func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// fromEnvironment is http.ProxyFromEnvironment, whose errors show the URL, with the password that it may hold.
func fromEnvironment(request *http.Request) (*url.URL, error) {
	proxy, err := http.ProxyFromEnvironment(request)
	if err != nil {
		return nil, errors.New("http: the proxy's URL in the environment does not parse: it must look like http://host:port")
	}
	return proxy, nil
}

// proxy returns how the proxy for a request is found.
func (o *Options) proxy() (func(*http.Request) (*url.URL, error), error) {
	if o.Proxy == "" {
		return fromEnvironment, nil
	}
	proxy, err := url.Parse(o.Proxy)
	if err != nil || proxy.Hostname() == "" || proxy.Scheme != "http" && proxy.Scheme != "https" && proxy.Scheme != "socks5" {
		// It is not shown, as it may hold a password.
		return nil, errors.New("http: the proxy's URL must look like http://host:port, https://host:port or socks5://host:port")
	}
	return http.ProxyURL(proxy), nil
}
