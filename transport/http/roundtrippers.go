//go:build !js

package http

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// roundTrippers contains the http.RoundTrippers for one version of the certificate files. It is immutable.
type roundTrippers struct {
	authenticated http.RoundTripper // sends the client certificate; used for requests to the server
	anonymous     http.RoundTripper // sends no client certificate; used for redirects to other origins
	content       content
}

func (r *roundTrippers) closeIdle() {
	for _, t := range []http.RoundTripper{r.authenticated, r.anonymous} {
		if c, ok := t.(interface{ CloseIdleConnections() }); ok {
			c.CloseIdleConnections()
		}
	}
}

func (o *Options) newRoundTrippers(c content, server *url.URL) (*roundTrippers, error) {
	bare := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: o.InsecureSkipVerify}
	if o.CAFile != "" || len(o.CAData) > 0 {
		bare.RootCAs = x509.NewCertPool()
		if !bare.RootCAs.AppendCertsFromPEM([]byte(c.ca)) {
			return nil, errors.New("http: the certificate authority contains no PEM certificate")
		}
	}
	trusted := bare.Clone()
	trusted.ServerName = o.ServerName
	if o.CertFile != "" || c.cert != "" || c.key != "" {
		certificate, err := tls.X509KeyPair([]byte(c.cert), []byte(c.key))
		if err != nil {
			return nil, fmt.Errorf("http: the client certificate: %w", err)
		}
		// Config.Certificates would withhold the certificate if the server requests a different issuer.
		trusted.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil }
	}
	toProxy, err := o.proxy()
	if err != nil {
		return nil, err
	}
	toServer := newTransport(trusted, toProxy, o.DisableCompression)
	if proxy, err := toProxy(&http.Request{URL: server}); err == nil && proxy != nil && proxy.Scheme == "https" {
		// With DialTLSContext, net/http uses TLSClientConfig only for the server. Without it, net/http would use the
		// server's ServerName, client certificate and HTTP/2 for an HTTPS proxy, too.
		toServer.DialTLSContext = (&tls.Dialer{NetDialer: dialer, Config: bare.Clone()}).DialContext
	}
	untrusted := newTransport(bare, toProxy, o.DisableCompression)
	return &roundTrippers{authenticated: newBoundedDialer(toServer, server.Scheme), anonymous: untrusted, content: c}, nil
}

var dialer = &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}

// pings detect a dead HTTP/2 connection within 45 seconds. HTTP/1.1 has no pings.
var pings = &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second}

func newTransport(config *tls.Config, proxy func(*http.Request) (*url.URL, error), uncompressed bool) *http.Transport {
	return &http.Transport{
		Proxy:                  proxy,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		TLSClientConfig:        config,
		ForceAttemptHTTP2:      true,
		HTTP2:                  pings,
		DisableCompression:     uncompressed,
		MaxIdleConnsPerHost:    8, // lists run concurrently with watches and need their own connections
		MaxResponseHeaderBytes: 1 << 20,
		IdleConnTimeout:        90 * time.Second,
		ReadBufferSize:         1 << 10, // small because each HTTP/1.1 watch holds both buffers for hours; larger reads bypass them
		WriteBufferSize:        1 << 10,
	}
}
