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

// certificateHint is about a server that cannot be verified.
func (s *connection) certificateHint(ctx context.Context, err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		switch {
		case s.flags.CAFile != "":
			return s.flags.CAFile + " is not the authority that has signed the server's certificate: name that one by --certificate-authority"
		case s.HTTP.CAFile != "" || len(s.HTTP.CAData) > 0:
			return fmt.Sprintf("the certificate-authority of cluster %q in the kubeconfig has not signed it: name the one that has by --certificate-authority", s.Cluster)
		}
		return "name the authority that has signed it by --certificate-authority FILE, or in the kubeconfig's cluster"
	}
	if other, ok := errors.AsType[x509.HostnameError](err); ok {
		name := "NAME"
		if len(other.Certificate.DNSNames) > 0 {
			name = other.Certificate.DNSNames[0]
		}
		return "connect to a name that it is valid for, or have it verified by --tls-server-name " + name
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return s.clockHint(ctx, invalid.Cert)
	}
	return ""
}

// clockHint is about a certificate that is not valid now: the server says what time it takes this to be.
func (s *connection) clockHint(ctx context.Context, c *x509.Certificate) string {
	valid := fmt.Sprintf("it is valid from %s to %s", c.NotBefore.UTC().Format(time.RFC3339), c.NotAfter.UTC().Format(time.RFC3339))
	now := time.Now()
	serverNow, err := s.serverTime(ctx)
	if err != nil {
		return valid + ": is this machine's clock right? If it is, the server needs a new one"
	}
	// It is said in seconds, and takes a while to come.
	switch ahead := serverNow.Sub(now).Round(time.Second); {
	case ahead > time.Minute:
		return fmt.Sprintf("%s, and the server's clock, which nobody has verified, is %v ahead of this machine's: is this one right?", valid, ahead)
	case ahead < -time.Minute:
		return fmt.Sprintf("%s, and the server's clock, which nobody has verified, is %v behind this machine's: is this one right?", valid, -ahead)
	}
	return valid + ", and the server's clock says the same as this machine's: the server needs a new one"
}

// serverTime asks the server for the time, without any credential, as it cannot be verified.
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
