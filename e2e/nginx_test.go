package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/docs"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/need"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	lwws "github.com/seed-6d2a410a/listwatch/transport/ws"
)

// TestNginxRecipe runs nginx with the configuration from docs/browser.md. Only names of files, hosts and ports differ.
func TestNginxRecipe(t *testing.T) {
	t.Parallel()
	nginx := need.Program(t, "nginx", "on Debian, run: apt install nginx")
	authority := certs.NewAuthority(t)
	api := startAPI(t, authority)
	page := startNginx(t, nginx, authority, api.address)

	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.Pool()}}}
	index := get(t, client, page+"/")
	require.Contains(t, index.Get("Content-Security-Policy"), "'wasm-unsafe-eval'")
	require.Empty(t, index.Get("Cache-Control"))
	for path, mediaType := range map[string]string{"/assets/listwatch.wasm": "application/wasm", "/assets/page.js": "/javascript"} {
		header := get(t, client, page+path)
		require.Contains(t, header.Get("Content-Type"), mediaType)
		require.Equal(t, "gzip", header.Get("Content-Encoding"), path)
		require.Equal(t, "public, max-age=31536000, immutable", header.Get("Cache-Control"))
		require.Equal(t, index.Get("Content-Security-Policy"), header.Get("Content-Security-Policy"))
	}

	transport, err := lwhttp.New(page+"/k8s", &lwhttp.Options{CAData: authority.PEM, Token: "secret"})
	require.NoError(t, err)
	defer transport.Close()
	t.Run("HTTP watch", func(t *testing.T) { followsAt(t, api.server, transport, "http") })
	t.Run("WebSocket watch", func(t *testing.T) { followsAt(t, api.server, lwws.New(transport), "websocket") })
}

// apiBehindTLS is an embedded server behind TLS.
type apiBehindTLS struct {
	server  *lwtest.Server
	address string
}

func startAPI(t *testing.T, authority *certs.Authority) apiBehindTLS {
	server, err := lwtest.Start(&lwtest.Options{Tokens: map[string]bool{"secret": true}})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	front := httptest.NewUnstartedServer(server)
	front.TLS = authority.Config(t, "kubernetes.default.svc")
	front.StartTLS()
	t.Cleanup(front.Close)
	return apiBehindTLS{server, front.Listener.Addr().String()}
}

// startNginx starts nginx with the documented configuration and returns its URL. api is the address of the API server.
func startNginx(t *testing.T, nginx string, authority *certs.Authority, api string) (url string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	socket, err := listener.(*net.TCPListener).File()
	require.NoError(t, err)
	defer socket.Close()
	folder, address := t.TempDir(), listener.Addr().String()
	require.NoError(t, os.Chmod(filepath.Dir(folder), 0o755)) // nginx workers run as another user and read the files
	require.NoError(t, os.Chmod(folder, 0o755))
	writeSite(t, folder, nginx, authority, address, api)

	command := exec.Command(nginx, "-p", folder, "-e", "stderr", "-c", filepath.Join(folder, "nginx.conf"))
	command.Stderr = os.Stderr
	command.ExtraFiles = []*os.File{socket}        // file descriptor 3
	command.Env = append(os.Environ(), "NGINX=3;") // nginx uses these descriptors as listening sockets, so no other process can take the port
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt) // fails if nginx has already exited
		_ = command.Wait()
	})
	return "https://" + address
}

// writeSite writes the page, the certificates and the documented configuration to folder.
func writeSite(t *testing.T, folder, nginx string, authority *certs.Authority, address, api string) {
	write := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, content, 0o644))
		return path
	}
	write("page/index.html", []byte("<title>page</title>"))
	write("page/assets/listwatch.wasm", bytes.Repeat([]byte("wasm"), 1000))
	write("page/assets/page.js", bytes.Repeat([]byte("script"), 1000))
	cert, key := authority.Issue(t, "127.0.0.1")
	server := replaceEach(t, nginxRecipe(t), map[string]string{
		"listen 443 ssl;":     "listen " + address + " ssl;",
		"/etc/nginx/page.crt": write("page.crt", cert),
		"/etc/nginx/page.key": write("page.key", key),
		"root /srv/page;":     "root " + filepath.Join(folder, "page") + ";",
		"/var/run/secrets/kubernetes.io/serviceaccount/ca.crt": write("ca.crt", authority.PEM),
	})
	if version, err := exec.Command(nginx, "-v").CombinedOutput(); err == nil && beforeHTTP2Directive.Match(version) {
		server = replaceEach(t, server, map[string]string{"  http2 on;\n": "", " ssl;": " ssl http2;"})
	}
	write("nginx.conf", []byte("daemon off; pid "+folder+"/pid; error_log stderr; events {}\nhttp {\ninclude /etc/nginx/mime.types; access_log off;\n"+
		"upstream kubernetes.default.svc { server "+api+"; }\n"+server+"}\n"))
}

// beforeHTTP2Directive matches the versions before nginx 1.25.1, which lack the http2 directive.
var beforeHTTP2Directive = regexp.MustCompile(`nginx/(0|1\.(1?\d|2[0-4]|25\.0)\b)`)

// nginxRecipe returns the configuration in docs/browser.md.
func nginxRecipe(t *testing.T) string {
	blocks, err := docs.Read("..")
	require.NoError(t, err)
	for _, block := range blocks {
		if block.Language == "nginx" {
			return block.Text
		}
	}
	require.Fail(t, "docs/browser.md has no nginx code block")
	return ""
}

// replaceEach replaces strings that text must contain.
func replaceEach(t *testing.T, text string, replacements map[string]string) string {
	for from, to := range replacements {
		require.Contains(t, text, from)
		text = strings.ReplaceAll(text, from, to)
	}
	return text
}

// get requests a URL with Accept-Encoding: gzip, and returns the headers of the response.
func get(t *testing.T, client *http.Client, url string) http.Header {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	request.Header.Set("Accept-Encoding", "gzip")
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	return response.Header
}

// followsAt requires that a watch through transport delivers a change immediately. It makes the change as soon as the
// watch is requested. It does not wait for a response, because nginx 1.22 sends the headers of an HTTP/2 response only
// with the first event.
func followsAt(t *testing.T, server *lwtest.Server, transport lw.Transport, name string) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // shorter than the interval of HTTP/2 pings, which would also deliver the headers
	defer cancel()
	client, err := lw.NewClient(transport, lw.Resource{Version: "v1", Plural: "configmaps", Namespace: "default"}, lw.RawCodec{}, nil)
	require.NoError(t, err)
	before, written := len(server.Requests(lwtest.Watches)), make(chan error, 1)
	go func() {
		for len(server.Requests(lwtest.Watches)) == before && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		_, err := server.Put("configmaps", map[string]any{"metadata": map[string]any{"name": name, "namespace": "default"}})
		written <- err
	}()
	var received bool
	for event := range lw.ListAndWatch(ctx, client, nil) {
		require.NotEqual(t, lw.Interrupted, event.Type, "%v", event.Interruption)
		if received = event.Type == lw.Added && event.Object.GetName() == name; received {
			break
		}
	}
	require.NoError(t, <-written)
	require.True(t, received, "the watch must deliver the new ConfigMap")
}
