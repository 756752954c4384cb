package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// certificateHint explains a certificate that cannot be verified.
func (s *connection) certificateHint(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		switch {
		case s.flags.CAFile != "":
			return "the CA in " + s.flags.CAFile + " did not sign the server's certificate: pass the right CA with --certificate-authority"
		case s.HTTP.CAFile != "" || len(s.HTTP.CAData) > 0:
			return fmt.Sprintf("the CA of cluster %q in the kubeconfig did not sign the server's certificate: pass the right CA with --certificate-authority", s.Cluster)
		}
		return "pass --certificate-authority FILE with the CA that signed the certificate, or add the CA to the cluster in the kubeconfig"
	}
	if other, ok := errors.AsType[x509.HostnameError](err); ok {
		name := "NAME"
		if len(other.Certificate.DNSNames) > 0 {
			name = other.Certificate.DNSNames[0]
		}
		return "connect to a name that the certificate is valid for, or verify that name with --tls-server-name " + name
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return fmt.Sprintf("the certificate is valid from %s to %s: check this machine's clock; if it is right, the server needs a new certificate",
			invalid.Cert.NotBefore.UTC().Format(time.RFC3339), invalid.Cert.NotAfter.UTC().Format(time.RFC3339))
	}
	return ""
}
