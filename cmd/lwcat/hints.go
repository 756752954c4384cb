package main

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
)

// hintedError adds a hint to an error.
type hintedError struct {
	error
	hint string
}

func (e *hintedError) Unwrap() error { return e.error }

// logError writes an error and its hint.
func (s *status) logError(err error) {
	s.logf("%v", err)
	if hinted, ok := errors.AsType[*hintedError](err); ok {
		s.logf("hint: %s", hinted.hint)
	}
}

// withHint adds a hint to an error from the server or the output. Only the first matching hint is added, because
// specific hints come before general ones.
func (s *connection) withHint(err error) error {
	hint := cmp.Or(s.rejectionHint(err), s.pluginHint(err), s.certificateHint(err), s.schemeHint(err), s.networkHint(err))
	if hint == "" {
		return err
	}
	return &hintedError{err, hint}
}

// rejectionHint explains status 401 and 403.
func (s *connection) rejectionHint(err error) string {
	status, ok := errors.AsType[*lw.StatusError](err)
	if !ok {
		return ""
	}
	sent, denied := s.credential(), status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden
	switch {
	case denied && sent == "" && s.User != "" && strings.HasPrefix(s.Server, "http:"):
		return fmt.Sprintf("no credential was sent, because lwcat sends the credential of user %q only over https", s.User)
	case denied && sent == "":
		return "no credential was sent: pass --token, or select a kubeconfig user with --user or --context"
	case status.Code == http.StatusUnauthorized:
		return "the server rejected " + sent + ": it may have expired, or belong to a server other than " + s.Server
	case status.Code == http.StatusForbidden && status.Kind != "": // the hint needs the resource
		return s.forbiddenHint(err, status, sent)
	}
	return ""
}

// credential describes the credential that was sent, or returns "" if none was sent.
func (s *connection) credential() string {
	sent, of := s.HTTP, ""
	if s.User != "" {
		of = fmt.Sprintf(" of user %q", s.User)
	}
	switch {
	case s.flags.Token != "":
		return "the token from --token"
	case sent.CredentialFunc != nil:
		return "the credential from the plugin" + of
	case sent.Token != "":
		return "the token" + of
	case sent.TokenFile != "":
		return "the token in " + sent.TokenFile
	case sent.CertFile != "" || len(sent.CertData) > 0:
		return "the client certificate" + of + s.expiry()
	}
	return ""
}

// expiry returns a clause with the date until which the client certificate is valid, or "" if it cannot read the
// certificate.
func (s *connection) expiry() string {
	text := s.HTTP.CertData
	if s.HTTP.CertFile != "" {
		text, _ = os.ReadFile(s.HTTP.CertFile) // the transport reports an unreadable file
	}
	if block, _ := pem.Decode(text); block != nil {
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil {
			return ", which is valid until " + certificate.NotAfter.UTC().Format(time.RFC3339)
		}
	}
	return ""
}

// pluginHint returns advice for a failed credential plugin, or "" for other errors.
func (s *connection) pluginHint(err error) string {
	failed, ok := errors.AsType[*kubeconfig.Error](err)
	// If the plugin is not installed, the error already contains the hint.
	if !ok || failed.Hint == "" || errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return failed.Hint + "; to use another credential, pass --user or --token"
}

// schemeHint explains that the URL must start with https instead of http, or the other way around.
func (s *connection) schemeHint(err error) string {
	scheme, rest, _ := strings.Cut(s.Server, "://")
	if scheme == "https" && isPlainHTTP(err) {
		return "the server uses HTTP without TLS: did you mean http://" + rest + "?"
	}
	status, ok := errors.AsType[*lw.StatusError](err)
	// kube-apiserver, other net/http servers and nginx send these words. lwcat uses them only to select a hint.
	if text := "HTTP request"; scheme == "http" && ok && status.Code == http.StatusBadRequest &&
		strings.Contains(status.Message, text) && strings.Contains(status.Message, "HTTPS") {
		return "the server uses TLS: did you mean https://" + rest + "?"
	}
	return ""
}

// isPlainHTTP reports whether the server answered a TLS handshake without TLS.
func isPlainHTTP(err error) bool {
	_, ok := errors.AsType[tls.RecordHeaderError](err)
	return ok || errors.Is(err, http.ErrSchemeMismatch)
}

// networkHint explains unknown hosts and refused connections.
func (s *connection) networkHint(err error) string {
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Op == "proxyconnect" {
		return "the proxy does not answer: check proxy-url in the kubeconfig and HTTPS_PROXY, or exclude the server with NO_PROXY"
	}
	if unknown, ok := errors.AsType[*net.DNSError](err); ok && unknown.IsNotFound {
		return "the host name " + unknown.Name + " is unknown: check " + s.Server + ", and check that this network or VPN can resolve the name"
	}
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.Errno(10061)) { // 10061 is WSAECONNREFUSED on Windows
		return "no server is listening at that address: check that " + s.Server + " is running and the port is right, or select another server with --server or --context"
	}
	return ""
}

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
		names := append(other.Certificate.DNSNames, "NAME")
		return "connect to a name that the certificate is valid for, or verify that name with --tls-server-name " + names[0]
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return fmt.Sprintf("the certificate is valid from %s to %s: check this machine's clock; if it is right, the server needs a new certificate",
			invalid.Cert.NotBefore.UTC().Format(time.RFC3339), invalid.Cert.NotAfter.UTC().Format(time.RFC3339))
	}
	return ""
}

// streamError is the error that ended a resource's stream.
type streamError struct {
	resource lw.Resource
	error
}

func (e *streamError) Error() string { return e.resource.String() + ": " + e.error.Error() }
func (e *streamError) Unwrap() error { return e.error }

// forbiddenHint explains status 403. It names the user whose permissions the server checked, and a command that
// repeats the check. In a 403 response, status.Kind is the plural name of the resource.
func (s *connection) forbiddenHint(err error, status *lw.StatusError, sent string) string {
	resource, check, namespace := strings.TrimSuffix(status.Kind+"."+status.Group, "."), "watch", ""
	subject, verbs, as := "the server accepted "+sent+", but the user it identifies", "verbs list and watch", ""
	if failed, ok := errors.AsType[*streamError](err); ok {
		if namespace = " --all-namespaces"; failed.resource.Namespace != "" {
			namespace = " --namespace " + failed.resource.Namespace
		}
	}
	if strings.Contains(status.Message, "cannot impersonate") {
		check, verbs, namespace = "impersonate", "verb impersonate", ""
	} else if users := s.HTTP.Header["Impersonate-User"]; users != nil {
		subject, as = fmt.Sprintf("the impersonated user %q", users[0]), fmt.Sprintf(" --as %q", users[0])
		for _, group := range s.HTTP.Header["Impersonate-Group"] {
			as += fmt.Sprintf(" --as-group %q", group)
		}
	}
	return fmt.Sprintf("%s needs a role that allows the %s for %s; check with kubectl auth can-i %s %s%s%s", subject, verbs, resource, check, resource, namespace, as)
}
