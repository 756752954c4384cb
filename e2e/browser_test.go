package e2e

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/need"
)

func needBrowsers(t *testing.T) {
	for _, needed := range []string{"browser/node_modules/puppeteer-core", "../wasm/listwatch.wasm", "../bin/stage"} {
		if _, err := os.Stat(needed); err != nil || os.Getenv("CHROME") == "" || os.Getenv("FIREFOX") == "" {
			need.Missing(t, "Node, Chromium, Firefox or a built file is missing; to install and build everything, run: make e2e")
		}
	}
}

// TestBrowsersBehindKubectlProxy opens ten collections on a page in each browser. kubectl proxy supports only HTTP/1.1,
// so the browser limits the page to six connections.
func TestBrowsersBehindKubectlProxy(t *testing.T) {
	needBrowsers(t)
	c := shared.Get(t)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	proxy := exec.CommandContext(ctx, filepath.Join(kube.Binaries(t), "kubectl"), "--kubeconfig", c.Kubeconfig, "proxy", "--port=0")
	said, err := proxy.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, proxy.Start())
	defer func() {
		_ = proxy.Process.Kill()
		_ = proxy.Wait()
	}()
	line, err := bufio.NewReader(said).ReadString('\n') // for example "Starting to serve on 127.0.0.1:8001\n"
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, "node", "--test-reporter=spec", "browser/proxy.mjs")
	cmd.Env = append(os.Environ(), "PROXY=http://"+line[strings.LastIndex(line, " ")+1:len(line)-1])
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
	t.Logf("%s", output)
}

// TestBrowsersAndRealServer covers details that the embedded server does not reproduce, such as CORS headers and
// requests for client certificates.
func TestBrowsersAndRealServer(t *testing.T) {
	needBrowsers(t)
	c := shared.Get(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		switch r.URL.Path {
		case "/kill":
			c.Kill()
		case "/start":
			err = c.StartAPIServer(ctx)
		case "/expire":
			err = c.ExpireVersions(ctx)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	defer control.Close()
	// Node 20 needs the flag, because the test also uses the package in Node.
	cmd := exec.CommandContext(ctx, "node", "--experimental-websocket", "--test-reporter=spec", "browser/real.mjs")
	cmd.Env = append(os.Environ(), "SERVER="+c.URL, "CONTROL="+control.URL, "ADMIN="+c.AdminToken, "NOBODY="+c.NobodyToken, "NODE_EXTRA_CA_CERTS="+c.CAFile)
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
	t.Logf("%s", output)
}
