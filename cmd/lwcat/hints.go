package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"syscall"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
)

// hintedError adds advice to an error.
type hintedError struct {
	error
	hint string
}

func (a *hintedError) Unwrap() error { return a.error }

// withHint adds a hint to an error. An empty hint changes nothing.
func withHint(err error, hint string) error {
	if err == nil || hint == "" {
		return err
	}
	return &hintedError{err, hint}
}

// connection is the loaded kubeconfig and the flags that selected it.
type connection struct {
	*kubeconfig.Config
	flags *serverOptions
}

// withHint adds a hint to an error of the server or of the output.
func (s *source) withHint(ctx context.Context, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return withHint(err, "the disk is full; --resume FILE would let the next run go on where this one has ended")
	}
	if s.connection == nil || err == nil {
		return err
	}
	return s.connection.withHint(ctx, err)
}

func (s *connection) withHint(ctx context.Context, err error) error {
	for _, hint := range []func(context.Context, error) string{s.rejectionHint, s.pluginHint, s.certificateHint, s.schemeHint, s.networkHint} {
		if text := hint(ctx, err); text != "" {
			return withHint(err, text)
		}
	}
	return err
}

// kubeconfigHint explains an unreadable kubeconfig.
func kubeconfigHint(err error) string {
	broken, ok := errors.AsType[*kubeconfig.Error](err)
	switch {
	case !ok || broken.Entry != "":
		return ""
	case errors.Is(err, fs.ErrPermission):
		return "another user owns it: look at its modes by ls -l, or name another file by --kubeconfig"
	case errors.Is(err, syscall.EISDIR):
		return "--kubeconfig and $KUBECONFIG name files, as " + broken.File + "/config"
	}
	return ""
}

// rejectionHint explains status 401 and 403.
func (s *connection) rejectionHint(_ context.Context, err error) string {
	status, ok := errors.AsType[*lw.StatusError](err)
	if !ok {
		return ""
	}
	sent, denied := s.credential(), status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden
	switch {
	case denied && sent == "" && s.User != "" && strings.HasPrefix(s.Server, "http:"):
		return fmt.Sprintf("what user %q has is sent over https alone: no credential was sent", s.User)
	case denied && sent == "":
		return "no credential was sent: name one by --token, or a user of the kubeconfig by --user or --context"
	case status.Code == http.StatusUnauthorized:
		return sent + " was sent: it may have expired, or be of another server than " + s.Server
	case status.Code == http.StatusForbidden && status.Details.Kind != "":
		resource := status.Details.Kind
		if status.Details.Group != "" {
			resource += "." + status.Details.Group
		}
		return fmt.Sprintf("%s was sent: whose it is needs a role with the verbs list and watch of %s, which kubectl auth can-i watch %[2]s asks for", sent, resource)
	}
	return ""
}

// credential describes the credential that was sent, or returns "".
func (s *connection) credential() string {
	sent, of := s.HTTP, ""
	if s.User != "" {
		of = fmt.Sprintf(" of user %q", s.User)
	}
	switch {
	case s.flags.Token != "":
		return "the token of --token"
	case sent.CredentialFunc != nil:
		return "what the credential plugin" + of + " gave"
	case sent.Token != "":
		return "the token" + of
	case sent.TokenFile != "":
		return "the token in " + sent.TokenFile
	case sent.CertFile != "" || len(sent.CertData) > 0:
		return "the client certificate" + of
	}
	return ""
}

// pluginHint explains a failed credential plugin.
func (s *connection) pluginHint(_ context.Context, err error) string {
	failed, ok := errors.AsType[*kubeconfig.ExecError](err)
	if !ok || errors.Is(err, exec.ErrNotFound) {
		return ""
	}
	return fmt.Sprintf("log in again with what %s belongs to, or run it by hand; --user and --token name another credential", failed.Command)
}

// schemeHint explains a request that used http instead of https, or the reverse.
func (s *connection) schemeHint(_ context.Context, err error) string {
	scheme, rest, _ := strings.Cut(s.Server, "://")
	if scheme == "https" && isPlainHTTP(err) {
		return "the server speaks HTTP without TLS there: is it http://" + rest + "?"
	}
	status, ok := errors.AsType[*lw.StatusError](err)
	// net/http's words, as of kube-apiserver, and nginx': they tell people, and decide nothing.
	if text := "HTTP request"; scheme == "http" && ok && status.Code == http.StatusBadRequest &&
		strings.Contains(status.Message, text) && strings.Contains(status.Message, "HTTPS") {
		return "the server speaks TLS there: is it https://" + rest + "?"
	}
	if scheme == "http" && errors.Is(err, syscall.ECONNRESET) {
		return "many servers that speak TLS answer HTTP so: is it https://" + rest + "?"
	}
	return ""
}

// isPlainHTTP reports whether the server answered a TLS handshake without TLS.
func isPlainHTTP(err error) bool {
	_, ok := errors.AsType[tls.RecordHeaderError](err)
	return ok || errors.Is(err, http.ErrSchemeMismatch)
}

// networkHint explains network errors.
func (s *connection) networkHint(_ context.Context, err error) string {
	if unknown, ok := errors.AsType[*net.DNSError](err); ok && unknown.IsNotFound {
		return "no host has the name " + unknown.Name + ": is " + s.Server + " spelt right, and does this network, or VPN, know it?"
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "nothing listens there: does the server of " + s.Server + " run, and is it that port? --server and --context name another"
	}
	return ""
}
