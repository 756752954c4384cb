//go:build !js

package kubeconfig_test

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if folder := os.Getenv("LISTWATCH_PLUGIN"); folder != "" {
		os.Exit(playPlugin(folder))
	}
	leak.Main(m)
}

// server is a test server that responds with the identity of the client: its certificate name, token and impersonation
// headers.
type server struct {
	*httptest.Server
	authority *certs.Authority
	rejected  atomic.Value // token or certificate name that the server rejects with 401
	requests  atomic.Int32
}

func newServer(t *testing.T, secure bool) *server {
	s := &server{authority: certs.NewAuthority(t)}
	s.rejected.Store("none")
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // some tests cause failed handshakes, which the server would log
	if secure {
		s.TLS, s.EnableHTTP2 = config(t, s.authority), true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	name, token := "", strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		name = r.TLS.PeerCertificates[0].Subject.CommonName
	}
	if rejected := s.rejected.Load(); rejected == token || rejected == name {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	_, _ = io.WriteString(w, strings.TrimSpace(name+" "+token))
	for _, header := range []string{"Impersonate-User", "Impersonate-Uid", "Impersonate-Group", "Impersonate-Extra-Example.com%2fteam"} {
		for _, value := range r.Header.Values(header) {
			_, _ = io.WriteString(w, ", "+strings.TrimPrefix(header, "Impersonate-")+"="+value)
		}
	}
}

// cluster returns the server's cluster fields for a kubeconfig, in the syntax of [file].
func (s *server) cluster() string {
	return "server: " + s.URL + "; certificate-authority-data: " + b64(s.authority.PEM)
}

// identity sends a request and returns the client's identity as seen by the server.
func identity(ctx context.Context, t *testing.T, config *kubeconfig.Config) (string, error) {
	t.Helper()
	transport, err := lwhttp.New(config.Server, config.HTTP)
	require.NoError(t, err)
	defer transport.Close()
	body, err := transport.Open(ctx, &lw.Request{Path: "/"})
	if err != nil {
		return "", err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	return string(text), err
}

func TestCredentials(t *testing.T) {
	home := onlyFile(t)
	s, plain := newServer(t, true), newServer(t, false)
	cert, key := s.authority.Issue(t, "jane")
	other, otherKey := s.authority.Issue(t, "joe")
	files := "client-certificate: " + write(t, home+"/cert", other) + "; client-key: " + write(t, home+"/key", otherKey)
	data := "client-certificate-data: " + b64(cert) + "; client-key-data: " + b64(key)
	token := "tokenFile: " + write(t, home+"/token", " filed\n")
	for name, c := range map[string]struct{ cluster, user, who string }{
		"no credentials":                  {s.cluster(), "{}", ""},
		"token":                           {s.cluster(), "token: t1", "t1"},
		"token file":                      {s.cluster(), token, "filed"},
		"token file overrides a token":    {s.cluster(), "token: t1; " + token, "filed"},
		"token with a missing token file": {s.cluster(), "token: t1; tokenFile: none", "t1"},
		"certificate data":                {s.cluster(), data, "jane"},
		"certificate file":                {s.cluster(), files, "joe"},
		"data overrides files":            {s.cluster(), files + "; " + data, "jane"},
		"certificate data and key file":   {s.cluster(), "client-certificate-data: " + b64(cert) + "; client-key: " + write(t, home+"/key2", key), "jane"},
		"certificate and token":           {s.cluster(), data + "; token: t1", "jane t1"},
		"no verification":                 {"insecure-skip-tls-verify: true; server: " + s.URL, "token: t1", "t1"},
		"tls-server-name":                 {s.cluster() + "; tls-server-name: api.test", "token: t1", "t1"},
		"CA file":                         {"server: " + s.URL + "; certificate-authority: " + write(t, home+"/ca", s.authority.PEM), "token: t1", "t1"},
		"no credentials over plain HTTP":  {"server: " + plain.URL, "token: t1; " + data, ""},
		"plain HTTP without a scheme":     {"server: " + plain.URL[len("http://"):], "token: t1", ""},
		"impersonation": {s.cluster(), "token: t1; as: joe; as-uid: '7'; as-groups: [a, b]; as-user-extra: {example.com/team: [x, y]}",
			"t1, User=joe, Uid=7, Group=a, Group=b, Extra-Example.com%2fteam=x, Extra-Example.com%2fteam=y"},
	} {
		text, err := identity(t.Context(), t, load(t, file(t, c.cluster, c.user)))
		require.NoError(t, err, name)
		require.Equal(t, c.who, text, name)
	}
	_, err := identity(t.Context(), t, load(t, file(t, s.cluster()+"; tls-server-name: other.test", "{}")))
	require.ErrorContains(t, err, "other.test")
	_, err = identity(t.Context(), t, load(t, file(t, "server: "+s.URL, "{}")))
	var unknown *tls.CertificateVerificationError
	require.ErrorAs(t, err, &unknown, "certificate verification must fail with an unknown authority")
}

func TestOptionsOverrideFiles(t *testing.T) {
	home := onlyFile(t)
	s, plain := newServer(t, true), newServer(t, false)
	cert, key := s.authority.Issue(t, "jane")
	ca := write(t, home+"/ca", s.authority.PEM)
	user := "client-certificate-data: " + b64(cert) + "; client-key-data: " + b64(key) + "; as: root; as-groups: [masters]"
	for name, c := range map[string]struct {
		cluster, user string
		opts          kubeconfig.Options
		who           string
	}{
		"token":                        {s.cluster(), user, kubeconfig.Options{Token: "t2"}, "t2, User=root, Group=masters"},
		"token over plain HTTP":        {"server: " + plain.URL, "{}", kubeconfig.Options{Token: "t2"}, "t2"},
		"server":                       {"server: https://127.0.0.1:1; tls-server-name: other.test; certificate-authority-data: " + b64(s.authority.PEM), "token: t1", kubeconfig.Options{Server: s.URL}, "t1"},
		"server name":                  {s.cluster() + "; tls-server-name: other.test", "token: t1", kubeconfig.Options{ServerName: "api.test"}, "t1"},
		"CA file":                      {"insecure-skip-tls-verify: true; server: " + s.URL, "token: t1", kubeconfig.Options{CAFile: ca}, "t1"},
		"no verification":              {"certificate-authority: /none; server: " + s.URL, "token: t1", kubeconfig.Options{Insecure: true}, "t1"},
		"impersonated user":            {s.cluster(), user, kubeconfig.Options{As: "joe"}, "jane, User=joe"},
		"impersonated user and groups": {s.cluster(), user, kubeconfig.Options{As: "joe", AsGroups: []string{"a", "b"}}, "jane, User=joe, Group=a, Group=b"},
		"impersonated groups":          {s.cluster(), user, kubeconfig.Options{AsGroups: []string{"a"}}, "jane, User=root, Group=a"},
	} {
		c.opts.Path = file(t, c.cluster, c.user)
		config, err := kubeconfig.Load(&c.opts)
		require.NoError(t, err, name)
		text, err := identity(t.Context(), t, config)
		require.NoError(t, err, name)
		require.Equal(t, c.who, text, name)
	}
	for want, opts := range map[string]kubeconfig.Options{
		"insecure-skip-tls-verify cannot be combined with certificate-authority": {CAFile: ca, Insecure: true},
		"certificate-authority: open /none":                                      {CAFile: "/none"},
		"must look like https://host:port":                                       {Server: "https://"},
		"impersonating a group requires a user":                                  {AsGroups: []string{"a"}},
		"token contains an invalid character":                                    {Token: "a\nb"},
	} {
		opts.Path = file(t, s.cluster(), "{}")
		_, err := kubeconfig.Load(&opts)
		var typed *kubeconfig.Error
		require.ErrorAs(t, err, &typed)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), opts.Path, "an error about the options must not name the kubeconfig")
	}
}

func TestOptionsWithoutKubeconfig(t *testing.T) {
	home := onlyFile(t)
	s := newServer(t, true)
	ca := write(t, home+"/ca", s.authority.PEM)
	config, err := kubeconfig.Load(&kubeconfig.Options{Server: s.URL, CAFile: ca, Token: "t1", As: "joe"})
	require.NoError(t, err)
	require.Equal(t, "default", config.Namespace)
	text, err := identity(t.Context(), t, config)
	require.NoError(t, err)
	require.Equal(t, "t1, User=joe", text)
}

// A single call must connect with the credentials of a context and return the namespace of that context.
func TestConnect(t *testing.T) {
	onlyFile(t)
	s := newServer(t, true)
	path := file(t, s.cluster(), "token: t1")
	write(t, path, strings.Replace(read(t, path), "{cluster:", "{namespace: shop, cluster:", 1))
	transport, namespace, err := kubeconfig.Connect(&kubeconfig.Options{Path: path})
	require.NoError(t, err)
	defer transport.Close()
	require.Equal(t, "shop", namespace)
	body, err := transport.Open(t.Context(), &lw.Request{Path: "/"})
	require.NoError(t, err)
	defer body.Close()
	text, err := io.ReadAll(body)
	require.NoError(t, err)
	require.Equal(t, "t1", string(text))

	_, _, err = kubeconfig.Connect(&kubeconfig.Options{Path: path, Context: "hre"})
	require.EqualError(t, err, `there is no context "hre"; try "here"`)
	_, _, err = kubeconfig.Connect(nil)
	require.ErrorIs(t, err, kubeconfig.ErrNowhere)
}

// Without a kubeconfig context, a Pod uses the namespace, CA certificate and rotating token of its service account.
func TestServiceAccount(t *testing.T) {
	home := onlyFile(t)
	s := newServer(t, true)
	account := home + "/account"
	opts := &kubeconfig.Options{ServiceAccount: account}
	_, err := kubeconfig.Load(opts)
	require.ErrorIs(t, err, kubeconfig.ErrNowhere, "outside a Pod, Load must find no server")

	host, port, err := net.SplitHostPort(s.Listener.Addr().String())
	require.NoError(t, err)
	t.Setenv("KUBERNETES_SERVICE_HOST", host)
	t.Setenv("KUBERNETES_SERVICE_PORT", port)
	_, err = kubeconfig.Load(opts)
	require.ErrorIs(t, err, kubeconfig.ErrNowhere, "in a Pod without a token, Load must find no server")
	write(t, account+"/token", "t1\n")
	_, err = kubeconfig.Load(opts)
	require.ErrorContains(t, err, "service account: certificate-authority: open ")
	write(t, account+"/ca.crt", s.authority.PEM)
	config, err := kubeconfig.Load(opts)
	require.NoError(t, err)
	require.Equal(t, "default", config.Namespace)
	write(t, account+"/namespace", "shop\n")
	config, err = kubeconfig.Load(opts)
	require.NoError(t, err)
	require.Equal(t, "shop", config.Namespace)
	require.Equal(t, s.URL, config.Server)

	transport, err := lwhttp.New(config.Server, config.HTTP)
	require.NoError(t, err)
	defer transport.Close()
	for _, token := range []string{"t1", "t2", "t3"} {
		write(t, account+"/token", token)
		body, err := transport.Open(t.Context(), &lw.Request{Path: "/"})
		require.NoError(t, err)
		text, err := io.ReadAll(body)
		require.NoError(t, err)
		require.NoError(t, body.Close())
		require.Equal(t, token, string(text))
		s.rejected.Store(token)
	}

	t.Setenv("POD_NAMESPACE", "other")
	config, err = kubeconfig.Load(opts)
	require.NoError(t, err)
	require.Equal(t, "other", config.Namespace)
	write(t, home+"/.kube/config", read(t, file(t, "server: https://home", "{}")))
	config, err = kubeconfig.Load(opts)
	require.NoError(t, err)
	require.Equal(t, "https://home", config.Server, "a kubeconfig must override the service account")
}
