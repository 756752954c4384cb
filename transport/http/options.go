//go:build !js

package http

import (
	"context"
	"errors"
	"net/http"
	"net/url"
)

// Options configure a [Transport]. The zero value is good for a server without authentication.
type Options struct {
	// Client makes the requests in place of one of our own, with its transport, its redirect policy and its jar. The TLS
	// fields and DisableCompression must then be empty: they are its transport's business. Its Timeout must be zero, as it
	// would end every watch.
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

	Header    map[string][]string // sent with every request, as Impersonate-User
	UserAgent string              // "listwatch" if empty. One that begins with Mozilla/5.0, curl or Wget makes servers indent lists

	DisableCompression bool // do not ask for gzip
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
	case server.User != nil || server.RawQuery != "" || server.ForceQuery || server.Fragment != "":
		return errors.New("http: the server's URL must not have a user, a query or a fragment")
	case tokens > 1:
		return errors.New("http: only one of Token, TokenFile and TokenFunc may be set")
	case certificate != key:
		return errors.New("http: a client certificate and its key must be set together")
	case o.Client != nil && (tls || o.DisableCompression):
		return errors.New("http: with Client set, TLS and compression are configured in its transport")
	case o.Client != nil && o.Client.Timeout != 0:
		return errors.New("http: Client.Timeout would end every watch: set it to zero and use contexts")
	}
	return nil
}
