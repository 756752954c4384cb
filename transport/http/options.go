package http

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

// Options configure a [Transport]. The zero value is good for a server without authentication.
type Options struct {
	// Client makes the requests in place of one of our own, with its transport, its redirect policy and its jar. The TLS
	// fields and DisableCompression must then be empty: they are its transport's business. Its Timeout must be zero, as it
	// would end every watch.
	Client *http.Client

	CAFile   string // PEM; empty means the system's roots, unless CAData is set
	CAData   []byte // PEM, in place of a file
	CertFile string // PEM client certificate, read again for every new connection, so that it may rotate
	KeyFile  string // its key
	CertData []byte // PEM, in place of the files
	KeyData  []byte

	ServerName         string // the name to verify in place of the URL's host
	InsecureSkipVerify bool   // accept any certificate: whoever is in the middle can read the token

	Token     string                                // bearer token
	TokenFile string                                // a file that holds one, read again when it is a minute old, as Kubernetes rotates them
	TokenFunc func(context.Context) (string, error) // asked for every request

	Header    http.Header // sent with every request, as Impersonate-User
	UserAgent string      // "listwatch" if empty. One that begins with Mozilla/5.0, curl or Wget makes servers indent lists

	DisableCompression bool // do not ask for gzip
}

// pings find a dead HTTP/2 connection within 45 seconds; HTTP/1.1 has no such thing.
var pings = &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second}

// newRoundTripper makes a transport, with the client certificate or without.
func (o *Options) newRoundTripper(withCertificate bool) (http.RoundTripper, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: o.ServerName, InsecureSkipVerify: o.InsecureSkipVerify}
	if err := o.setRoots(config); err != nil {
		return nil, err
	}
	if withCertificate {
		if err := o.setCertificate(config); err != nil {
			return nil, err
		}
	} else {
		config.ServerName = ""
	}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		TLSClientConfig:     config,
		ForceAttemptHTTP2:   true,
		HTTP2:               pings,
		DisableCompression:  o.DisableCompression,
		MaxIdleConnsPerHost: 8, // lists run beside watches, which hold a connection each in HTTP/1.1
		IdleConnTimeout:     90 * time.Second,
	}, nil
}

func (o *Options) setRoots(config *tls.Config) error {
	pem := o.CAData
	if len(pem) == 0 && o.CAFile == "" {
		return nil
	}
	if len(pem) == 0 {
		var err error
		if pem, err = os.ReadFile(o.CAFile); err != nil {
			return fmt.Errorf("http: the certificate authority's file: %w", err)
		}
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return errors.New("http: the certificate authority holds no certificate in PEM form")
	}
	return nil
}

func (o *Options) setCertificate(config *tls.Config) error {
	if o.CertFile == "" && len(o.CertData) == 0 {
		return nil
	}
	load := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		certificate, err := tls.X509KeyPair(o.CertData, o.KeyData)
		if len(o.CertData) == 0 {
			certificate, err = tls.LoadX509KeyPair(o.CertFile, o.KeyFile)
		}
		if err != nil {
			return nil, fmt.Errorf("http: the client certificate: %w", err)
		}
		return &certificate, nil
	}
	config.GetClientCertificate = load
	_, err := load(nil)
	return err
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
