package e2e

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
)

// TestKubectlReadsRecording records a real server with lwcat and serves the recording to kubectl. kubectl must print
// the same objects, resourceVersions and changes. The recording must not contain credentials.
func TestKubectlReadsRecording(t *testing.T) {
	l := newLwcat(t)
	configMaps := "/api/v1/namespaces/" + l.namespace + "/configmaps"
	l.write(http.MethodPost, configMaps, `{"metadata":{"name":"first"}}`)
	file := filepath.Join(t.TempDir(), "run")
	record := l.command("cm", "--field-selector", "metadata.name!=kube-root-ca.crt", "--record", file, "-o", "name", "--output-watch-events", "--count", "4")
	out, err := record.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, record.Start())
	printed := bufio.NewReader(out)
	_, err = printed.ReadString('\n')
	require.NoError(t, err)
	l.write(http.MethodPost, configMaps, `{"metadata":{"name":"second"}}`)
	l.write(http.MethodPut, configMaps+"/second", `{"metadata":{"name":"second"},"data":{"k":"v"}}`)
	l.write(http.MethodDelete, configMaps+"/first", "")
	rest, err := io.ReadAll(printed)
	require.NoError(t, err)
	require.NoError(t, record.Wait())
	require.Equal(t, "ADDED    configmap/second\nMODIFIED configmap/second\nDELETED  configmap/first\n", string(rest))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(text), l.AdminToken)

	serve := exec.CommandContext(t.Context(), l.path, "serve", file+"@max")
	url, err := serve.StdoutPipe()
	require.NoError(t, err)
	told, err := serve.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, serve.Start())
	defer func() { _ = serve.Process.Kill(); _ = serve.Wait() }() // Wait fails because the process was killed
	server, err := bufio.NewReader(url).ReadString('\n')
	require.NoError(t, err)
	_, err = bufio.NewReader(told).ReadString('\n') // lwcat prints this line when the replay is complete
	require.NoError(t, err)
	kubectl := func(args ...string) *exec.Cmd {
		args = append([]string{"--server", strings.TrimSpace(server), "--cache-dir", t.TempDir(), "-n", l.namespace}, args...)
		cmd := exec.CommandContext(t.Context(), filepath.Join(kube.Binaries(t), "kubectl"), args...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull)
		return cmd
	}
	run := func(args ...string) string {
		out, err := kubectl(args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	require.Equal(t, "configmap/second\n", run("get", "cm", "-o", "name"))
	require.Equal(t, "v", run("get", "configmaps", "second", "-o", "jsonpath={.data.k}"))
	require.Regexp(t, `(?m)^configmaps +cm +v1 +true +ConfigMap$`, run("api-resources"))
	refused, err := kubectl("delete", "cm", "second").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(refused), "recordings are read-only")

	watch := kubectl("get", "cm", "-w", "--output-watch-events", "-o", "name")
	events, err := watch.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	watch.Stderr = &stderr
	require.NoError(t, watch.Start())
	first, err := bufio.NewReader(events).ReadString('\n')
	require.NoError(t, err, &stderr)
	require.Equal(t, "configmap/second\n", first)
	require.NoError(t, watch.Process.Kill())
	_ = watch.Wait() // fails because the process was killed
}
