package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// certificateHint explains a certificate that cannot be verified.
func (s *connection) certificateHint(ctx context.Context, err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		switch {
		case s.flags.CAFile != "":
			return s.flags.CAFile + " did not sign the server's certificate: pass the right CA with --certificate-authority"
		case s.HTTP.CAFile != "" || len(s.HTTP.CAData) > 0:
			return fmt.Sprintf("the certificate-authority of cluster %q in the kubeconfig did not sign the server's certificate: pass the right CA with --certificate-authority", s.Cluster)
		}
		return "pass the CA that signed the certificate with --certificate-authority FILE, or set it in the kubeconfig's cluster"
	}
	if other, ok := errors.AsType[x509.HostnameError](err); ok {
		name := "NAME"
		if len(other.Certificate.DNSNames) > 0 {
			name = other.Certificate.DNSNames[0]
		}
		return "connect to a name that the certificate is valid for, or pass the name to verify with --tls-server-name " + name
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return s.clockHint(ctx, invalid.Cert)
	}
	return ""
}

// clockHint explains a certificate that has expired or is not valid yet. It compares this machine's clock with the
// server's clock.
func (s *connection) clockHint(ctx context.Context, c *x509.Certificate) string {
	valid := fmt.Sprintf("the certificate is valid from %s to %s", c.NotBefore.UTC().Format(time.RFC3339), c.NotAfter.UTC().Format(time.RFC3339))
	now := time.Now()
	serverNow, err := s.serverTime(ctx)
	if err != nil {
		return valid + ": check this machine's clock; if it is right, the server needs a new certificate"
	}
	// The tolerance of one minute covers the request's duration. The Date header has a resolution of one second.
	switch ahead := serverNow.Sub(now).Round(time.Second); {
	case ahead > time.Minute:
		return fmt.Sprintf("%s, and the server's unverified clock is %v ahead of this machine's: check this machine's clock", valid, ahead)
	case ahead < -time.Minute:
		return fmt.Sprintf("%s, and the server's unverified clock is %v behind this machine's: check this machine's clock", valid, -ahead)
	}
	return valid + ", and the server's clock agrees with this machine's: the server needs a new certificate"
}

// serverTime requests the server's time. The request carries no credentials because the server is not verified.
func (s *connection) serverTime(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, s.Server, nil)
	if err != nil {
		return time.Time{}, err
	}
	proxy := http.ProxyFromEnvironment
	if s.HTTP.Proxy != "" {
		proxy = func(*http.Request) (*url.URL, error) { return url.Parse(s.HTTP.Proxy) }
	}
	over := &http.Transport{
		Proxy: proxy, DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: s.HTTP.ServerName},
	}
	response, err := over.RoundTrip(request)
	if err != nil {
		return time.Time{}, err
	}
	defer response.Body.Close()
	return http.ParseTime(response.Header.Get("Date"))
}
