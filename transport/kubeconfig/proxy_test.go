//go:build !js

package kubeconfig_test

import (
	"net"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/wire"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/ws"
	"github.com/stretchr/testify/require"

	"crypto/tls"
)

// Only the proxy can reach the server. The client must list over HTTP and watch over HTTP and WebSocket, with the
// certificate and the token of a credential plugin.
func TestKubeconfigProxies(t *testing.T) {
	onlyFile(t)
	a := certs.NewAuthority(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	config := config(t, a)
	config.ClientAuth = tls.RequireAndVerifyClientCert
	config.NextProtos = []string{"http/1.1"}
	server, err := lwtest.Start(&lwtest.Options{Listener: tls.NewListener(listener, config), Tokens: map[string]bool{"t1": true}})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	_, err = server.Put("pods", `{"metadata":{"namespace":"default","name":"web-0"}}`)
	require.NoError(t, err)

	var tunnels atomic.Int32
	proxy := wire.Proxy(func(address, user string) (net.Conn, error) {
		if address != "k8s.example:6443" || user != "joe:p" {
			t.Errorf("proxy user %q requested %s", user, address)
		}
		tunnels.Add(1)
		return net.Dial("tcp", listener.Addr().String())
	})
	tunnel := httptest.NewServer(proxy)
	t.Cleanup(tunnel.Close)
	socks, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = socks.Close() })
	go proxy.ServeSocks(socks)

	p := newPlugin(t)
	cert, key := a.Issue(t, "jane")
	p.setStatus(`"token":"t1","clientCertificateData":` + quoted(cert) + `,"clientKeyData":` + quoted(key))
	for name, url := range map[string]string{"http": "http://joe:p@" + tunnel.Listener.Addr().String(), "socks5": "socks5://joe:p@" + socks.Addr().String()} {
		t.Run(name, func(t *testing.T) {
			tunnels.Store(0)
			config := load(t, file(t, "server: https://k8s.example:6443; tls-server-name: api.test; proxy-url: "+url+"; certificate-authority-data: "+b64(a.PEM), p.user("")))
			base, err := lwhttp.New(config.Server, config.HTTP)
			require.NoError(t, err)
			defer base.Close()
			for _, transport := range []lw.Transport{base, ws.New(base)} {
				client, err := lw.NewClient(transport, lw.Pods(config.Namespace), lw.RawCodec{}, nil)
				require.NoError(t, err)
				for event := range lw.ListAndWatch(t.Context(), client, nil) {
					require.NotEqual(t, lw.Interrupted, event.Type, "%v", event)
					if event.Type == lw.WatchStarted {
						break
					}
				}
			}
			require.GreaterOrEqual(t, tunnels.Load(), int32(2))
		})
	}
	require.Len(t, p.runs(), 2, "the plugin must run once for each kubeconfig")
}
