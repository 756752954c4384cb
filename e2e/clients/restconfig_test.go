package clients

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

func pemOf(certificate *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})
}

// serveTLS starts an embedded server behind TLS and HTTP/2 that accepts only the token "secret". It returns the server
// and the path of a kubeconfig.
func serveTLS(t *testing.T) (server *lwtest.Server, path string) {
	server, err := lwtest.Start(&lwtest.Options{Tokens: map[string]bool{"secret": true}})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	front := httptest.NewUnstartedServer(server)
	front.EnableHTTP2 = true
	front.StartTLS()
	t.Cleanup(front.Close)
	config := api.NewConfig()
	config.Clusters["test"] = &api.Cluster{Server: front.URL, CertificateAuthorityData: pemOf(front.Certificate())}
	config.AuthInfos["test"] = &api.AuthInfo{Token: "secret"}
	config.Contexts["test"] = &api.Context{Cluster: "test", AuthInfo: "test"}
	config.CurrentContext = "test"
	path = filepath.Join(t.TempDir(), "config")
	require.NoError(t, clientcmd.WriteToFile(*config, path))
	return server, path
}

// informerOf returns an informer for Pods, created with the code from docs/migration.md.
func informerOf(t *testing.T, config *rest.Config) *cache.Informer[*corev1.Pod] {
	httpClient, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	t.Cleanup(httpClient.CloseIdleConnections)
	transport, err := lwhttp.New(config.Host, &lwhttp.Options{Client: httpClient})
	require.NoError(t, err)
	client, err := lw.NewClient(transport, lw.Pods(""), codec.JSON[*corev1.Pod](nil), nil)
	require.NoError(t, err)
	return cache.NewInformer(client, &lw.Options{StopOn: lw.IsPermanent})
}

// TestRestConfig checks that the transport uses the CA, the token and the impersonation settings of a rest.Config.
func TestRestConfig(t *testing.T) {
	server, path := serveTLS(t)
	config, err := clientcmd.BuildConfigFromFlags("", path)
	require.NoError(t, err)
	config.Impersonate.UserName = "jane"
	pods := informerOf(t, config)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- pods.Run(ctx) }()
	_, err = server.Put("pods", `{"metadata":{"namespace":"shop","name":"web-0"}}`)
	require.NoError(t, err)
	eventually(t, func() bool { return pods.Store().Len() == 1 })
	<-pods.Synced()
	_, err = server.Put("pods", `{"metadata":{"namespace":"shop","name":"web-1"}}`)
	require.NoError(t, err)
	eventually(t, func() bool { return pods.Store().Len() == 2 })
	for _, request := range server.Requests(nil) {
		require.Equal(t, "jane", request.Header.Get("Impersonate-User"))
	}
	stop()
	require.Equal(t, context.Canceled, <-ended)
}

func TestRestConfigWithUnknownToken(t *testing.T) {
	_, path := serveTLS(t)
	config, err := clientcmd.BuildConfigFromFlags("", path)
	require.NoError(t, err)
	config.BearerToken = "stale"
	require.ErrorIs(t, informerOf(t, config).Run(t.Context()), lw.ErrUnauthorized)
}

// A timeout of the http.Client would also end every watch.
func TestRestConfigWithATimeout(t *testing.T) {
	config := &rest.Config{Host: "https://127.0.0.1:6443", Timeout: 1}
	httpClient, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	_, err = lwhttp.New(config.Host, &lwhttp.Options{Client: httpClient})
	require.ErrorContains(t, err, "Client.Timeout must be zero")
}

// TestRestConfigRedirects checks that the redirect policy in docs/migration.md sends no token to other hosts.
// client-go's default policy does.
func TestRestConfigRedirects(t *testing.T) {
	for name, follows := range map[string]bool{"client-go default": true, "redirect policy from the migration guide": false} {
		t.Run(name, func(t *testing.T) {
			got := make(chan string, 1)
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got <- r.Header.Get("Authorization")
				w.WriteHeader(http.StatusForbidden)
			}))
			defer other.Close()
			server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
			defer server.Close()
			config := &rest.Config{Host: server.URL, BearerToken: "secret"}
			httpClient, err := rest.HTTPClientFor(config)
			require.NoError(t, err)
			defer httpClient.CloseIdleConnections()
			if !follows {
				httpClient.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			}
			transport, err := lwhttp.New(config.Host, &lwhttp.Options{Client: httpClient})
			require.NoError(t, err)
			_, err = transport.Open(t.Context(), &lw.Request{Path: "/api/v1/pods"})
			require.Error(t, err)
			if !follows {
				require.ErrorContains(t, err, "302")
				require.Empty(t, got)
				return
			}
			require.Equal(t, "Bearer secret", <-got)
		})
	}
}
