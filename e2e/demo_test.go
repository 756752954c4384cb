package e2e

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDashboardOfOwnCluster shows a real cluster in the dashboard, with the credentials of a kubeconfig.
func TestDashboardOfOwnCluster(t *testing.T) {
	needBrowsers(t)
	c := shared.Get(t)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	program := filepath.Join(t.TempDir(), "demo")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./examples/demo")
	build.Dir = ".."
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	demo := exec.CommandContext(ctx, program, "-kubeconfig", c.Kubeconfig)
	demo.Dir, demo.Stderr = "..", os.Stderr
	said, err := demo.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, demo.Start())
	defer func() {
		_ = demo.Process.Kill()
		_ = demo.Wait()
	}()
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	// The path begins with a random secret of 26 characters, which keeps other pages out.
	url := regexp.MustCompile(`^Dashboard: (http://127\.0\.0\.1:\d+/\w{26}/ui/\?name=\S+)\n$`).FindStringSubmatch(line)
	require.NotNil(t, url, line)
	cmd := exec.CommandContext(ctx, "node", "--test-reporter=spec", "browser/own.mjs")
	cmd.Env = append(os.Environ(), "DASHBOARD="+url[1], "SERVER="+c.URL, "ADMIN="+c.AdminToken, "NODE_EXTRA_CA_CERTS="+c.CAFile)
	output, err = cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
	t.Logf("%s", output)
}
