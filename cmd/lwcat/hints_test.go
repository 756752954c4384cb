package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	"github.com/stretchr/testify/require"
)

// requireHint runs lwcat for a resource name and for a path, over HTTP and WebSocket. lwcat must exit immediately with
// code 1, and print the given strings in the given order.
func requireHint(t *testing.T, args string, want ...string) {
	t.Helper()
	for _, name := range []string{"po", "/api/v1/pods", "/api/v1/pods --transport ws"} {
		code, out, errs := lwcat(t, strings.Fields(args+" "+name+" --timeout 30s")...)
		require.Equal(t, exitError, code, "%s %s: %s", args, name, errs)
		require.Empty(t, out)
		rest := errs
		for _, part := range want {
			at := strings.Index(rest, part)
			require.GreaterOrEqual(t, at, 0, "%s %s: %q is missing or in the wrong order in: %s", args, name, part, errs)
			rest = rest[at+len(part):]
		}
		require.Equal(t, 1, strings.Count(errs, "hint: "), errs)
	}
}

// secure serves handler over TLS with a certificate for 127.0.0.1. It returns the URL and the path of the CA file.
// notBefore and notAfter set the validity of the certificate relative to the current time.
func secure(t *testing.T, handler http.Handler, notBefore, notAfter time.Duration) (url, ca string) {
	authority, now := certs.NewAuthority(t), time.Now()
	certificate, err := tls.X509KeyPair(authority.IssueBetween(t, now.Add(notBefore), now.Add(notAfter), "api.test", "127.0.0.1"))
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(new(lockedBuffer), "", 0)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL, file(t, "ca.crt", string(authority.PEM))
}

func file(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	writeProgram(t, path, text)
	return path
}

// writeProgram writes a file that may be a program. A child process that another test is starting must not inherit the
// open file, because the kernel refuses to run a program while a process has it open for writing.
func writeProgram(t *testing.T, path, text string) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
}

func TestCertificateHints(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "config"))
	handler := start(t, nil)
	url, ca := secure(t, handler, -time.Hour, time.Hour)
	_, other := secure(t, handler, -time.Hour, time.Hour)
	const unknown = "certificate signed by unknown authority"
	requireHint(t, "-s "+url+" --token s3cret", unknown, "hint: pass --certificate-authority FILE with the CA that signed the certificate, or add the CA to the cluster in the kubeconfig")
	requireHint(t, "-s "+url+" --certificate-authority "+other, unknown, "hint: the CA in "+other+" did not sign")
	config := file(t, "config", `{current-context: x, contexts: [{name: x, context: {cluster: c}}], clusters: [{name: c, cluster: {server: "`+url+`", certificate-authority: `+other+`}}]}`)
	requireHint(t, "--kubeconfig "+config, unknown, `hint: the CA of cluster "c" in the kubeconfig did not sign`, "--certificate-authority")
	requireHint(t, "-s "+url+" --certificate-authority "+ca+" --tls-server-name b.test", "valid for api.test, not b.test", "hint: connect to a name that the certificate is valid for", "--tls-server-name api.test")

	const invalid = "certificate has expired or is not yet valid"
	for _, from := range []time.Duration{48 * time.Hour, -72 * time.Hour} {
		url, ca = secure(t, handler, from, from+24*time.Hour)
		requireHint(t, "-s "+url+" --token s3cret --certificate-authority "+ca, invalid, "hint: the certificate is valid from", "check this machine's clock; if it is right, the server needs a new certificate")
	}
}

func TestSchemeHints(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "config"))
	handler := start(t, nil)
	url, _ := secure(t, handler, -time.Hour, time.Hour)
	requireHint(t, "-s "+strings.Replace(handler.URL, "http:", "https:", 1), "HTTP response to HTTPS client", "hint: the server uses HTTP without TLS: did you mean "+handler.URL+"?")
	requireHint(t, "-s "+strings.Replace(url, "https:", "http:", 1), "400", "hint: the server uses TLS: did you mean "+url+"?")
}

// TestNetworkHints uses a host name under .invalid, which never exists (RFC 6761).
func TestNetworkHints(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "config"))
	gone := start(t, nil)
	gone.Close()
	requireHint(t, "-s "+gone.URL, "connection refused", "hint: no server is listening at that address: check that "+gone.URL+" is running")
	s := &connection{Config: &kubeconfig.Config{Server: "https://a.invalid"}, flags: &serverOptions{}}
	err := s.withHint(fmt.Errorf("dial: %w", &net.DNSError{Err: "no such host", Name: "a.invalid", IsNotFound: true}))
	require.ErrorContains(t, err, "no such host")
	require.Equal(t, "the host name a.invalid is unknown: check https://a.invalid, and check that this network or VPN can resolve the name", err.(*hintedError).hint)
}

func TestRejectionHints(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "config"))
	server := start(t, &lwtest.Options{Tokens: map[string]bool{"no": false}})
	at := "-s " + server.URL
	requireHint(t, at, "system:anonymous", "hint: no credential was sent: pass --token")
	requireHint(t, at+" --token wrong", "401 Unauthorized", "hint: the server rejected the token from --token: it may have expired")
	url, ca := secure(t, server, -time.Hour, time.Hour)
	config := func(user string) string {
		return "--kubeconfig " + file(t, "config", `{current-context: x, contexts: [{name: x, context: {cluster: c, user: dev}}], clusters: [{name: c, cluster: {server: "`+url+`", certificate-authority: `+ca+`}}], users: [{name: dev, user: `+user+`}]}`)
	}
	requireHint(t, config("{token: wrong}"), "401 Unauthorized", `hint: the server rejected the token of user "dev"`)
	requireHint(t, config("{token: wrong}")+" "+at, "system:anonymous", `hint: no credential was sent, because lwcat sends the credential of user "dev" only over https`)
	path := file(t, "token", "wrong")
	requireHint(t, config("{tokenFile: "+path+"}"), "401 Unauthorized", "hint: the server rejected the token in "+path)
	code, _, errs := lwcat(t, "-s", server.URL, "--token", "no", "/apis/apps/v1/deployments")
	require.Equal(t, exitError, code)
	require.Regexp(t, `403 Forbidden: deployments.apps is forbidden.*\nlwcat: hint: the server accepted the token from --token, but the user it identifies needs a role that allows the verbs list and watch for deployments.apps; check with kubectl auth can-i watch deployments.apps --all-namespaces\n$`, errs)

	plugin := func(script string) string {
		return config("{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: " + file(t, "login", "#!/bin/sh\n"+script+"\n") + "}}")
	}
	gives := func(status string) string {
		return plugin(`echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":` + status + `}'`)
	}
	requireHint(t, gives(`{"token":"wrong"}`), "401 Unauthorized", `hint: the server rejected the credential from the plugin of user "dev"`)
	requireHint(t, gives(`{"token":"wrong","expirationTimestamp":"2001-01-01T00:00:00Z"}`), `user "dev": exec: the credential plugin`, "the server did not accept the credential, and the new credential expired at 2001-01-01T00:00:00Z", "hint: log in again")
	requireHint(t, plugin("echo session is over >&2; exit 1"), "session is over\n", "exit status 1", "hint: log in again", "login manually")
}

// TestRejectionHintsForImpersonatedUsers checks that the suggested command contains the user, the context and the
// namespace that the request used.
func TestRejectionHintsForImpersonatedUsers(t *testing.T) {
	for message, want := range map[string]string{
		"pods is forbidden: User \"jane doe\" cannot watch resource": "the impersonated user \"jane doe\" needs a role that allows the verbs list and watch for pods; " +
			"check with kubectl auth can-i watch pods --namespace shop --as \"jane doe\" --as-group \"dev\" --as-group \"ops\"",
		"users is forbidden: User \"dev\" cannot impersonate resource": "the server accepted the client certificate of user \"dev\", but the user it identifies needs a role that allows the verb impersonate for users; " +
			"check with kubectl auth can-i impersonate users",
	} {
		rejection := &lw.StatusError{Code: http.StatusForbidden, Message: message, Kind: strings.Fields(message)[0]}
		c := &connection{Config: &kubeconfig.Config{Server: "https://s", Context: "x", User: "dev", HTTP: &lwhttp.Options{
			CertFile: "c.crt", Header: http.Header{"Impersonate-User": {"jane doe"}, "Impersonate-Group": {"dev", "ops"}},
		}}, flags: &serverOptions{}}
		err := c.withHint(&streamError{lw.Resource{Version: "v1", Plural: "pods", Namespace: "shop"}, rejection})
		hinted, ok := errors.AsType[*hintedError](err)
		require.True(t, ok)
		require.Equal(t, want, hinted.hint)
	}
}

func TestProxyHint(t *testing.T) {
	gone := start(t, nil)
	gone.Close()
	config := file(t, "config", `{current-context: x, contexts: [{name: x, context: {cluster: c}}], clusters: [{name: c, cluster: {server: "https://10.0.0.1:6443", proxy-url: "`+gone.URL+`"}}]}`)
	requireHint(t, "--kubeconfig "+config, "proxyconnect", "hint: the proxy does not answer: check proxy-url in the kubeconfig and HTTPS_PROXY, or exclude the server with NO_PROXY")
}

func TestHintShowsWhenClientCertificateExpires(t *testing.T) {
	authority, end := certs.NewAuthority(t), time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	certificate, _ := authority.IssueBetween(t, end.Add(-time.Hour), end, "dev")
	for _, opts := range []*lwhttp.Options{{CertData: certificate}, {CertFile: file(t, "dev.crt", string(certificate))}} {
		s := &connection{Config: &kubeconfig.Config{Server: "https://s", User: "dev", HTTP: opts}, flags: &serverOptions{}}
		require.Contains(t, s.rejectionHint(&lw.StatusError{Code: http.StatusUnauthorized}), `the client certificate of user "dev", which is valid until 2020-01-02T03:04:05Z`)
	}
}
