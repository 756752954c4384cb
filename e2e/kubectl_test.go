package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// kubectl runs the real kubectl against the embedded server.
type kubectl struct {
	*testing.T
	server *lwtest.Server
	path   string
	cache  string
}

func newKubectl(t *testing.T) *kubectl {
	path := filepath.Join(kube.Binaries(t), "kubectl")
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	return &kubectl{T: t, server: server, path: path, cache: t.TempDir()}
}

func (k *kubectl) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(k.Context(), time.Minute)
	k.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, k.path, append([]string{"--server", k.server.URL, "--cache-dir", k.cache}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull)
	return cmd
}

// run runs kubectl, which must succeed, and returns its stdout and stderr.
func (k *kubectl) run(args ...string) string {
	k.Helper()
	out, err := k.command(args...).CombinedOutput()
	require.NoError(k, err, "kubectl %s: %s", strings.Join(args, " "), out)
	return string(out)
}

// file writes JSON to a new file and returns its path.
func (k *kubectl) file(object string) string {
	path := filepath.Join(k.TempDir(), "object.json")
	require.NoError(k, os.WriteFile(path, []byte(object), 0o600))
	return path
}

func (k *kubectl) data(name string) string {
	var object struct{ Data map[string]string }
	require.NoError(k, json.Unmarshal([]byte(k.run("get", "cm", name, "-o", "json")), &object))
	return object.Data["k"]
}

func TestKubectlWrites(t *testing.T) {
	k := newKubectl(t)
	// The embedded server has no OpenAPI schema, which kubectl needs for --validate.
	const object = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","labels":{"app":"web"}},"data":{"k":"one"}}`
	require.Equal(t, "configmap/web created\n", k.run("create", "-f", k.file(object), "--validate=false"))
	require.Equal(t, "one", k.data("web"))
	require.Equal(t, "configmap/web patched\n", k.run("patch", "cm", "web", "--type=merge", "-p", `{"data":{"k":"two"}}`))
	require.Equal(t, "two", k.data("web"))
	require.Equal(t, "configmap/web replaced\n", k.run("replace", "-f", k.file(strings.Replace(object, "one", "three", 1)), "--validate=false"))
	require.Equal(t, "three", k.data("web"))
	require.Contains(t, k.run("get", "cm"), "web")
	require.Contains(t, k.run("get", "configmaps", "-A", "-l", "app=web", "-o", "name"), "configmap/web")
	require.NotContains(t, k.run("get", "configmaps", "-A", "-l", "app!=web", "-o", "name"), "configmap/web")
	require.Contains(t, k.run("delete", "cm", "web"), `configmap "web" deleted`)
	out, err := k.command("get", "cm", "web").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), `configmaps "web" not found`)
	out, err = k.command("get", "cm", "--server", k.server.URL, "no-such-name").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "NotFound")
}

func TestKubectlFindsResources(t *testing.T) {
	k := newKubectl(t)
	resources := k.run("api-resources", "--no-headers")
	for _, want := range []string{"pods", "nodes", "namespaces", "deployments", "widgets"} {
		require.Contains(t, resources, want)
	}
	require.Contains(t, k.run("create", "-f", k.file(`{"apiVersion":"lw.example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":3}}`), "--validate=false"), "created")
	require.Contains(t, k.run("get", "widgets.lw.example.com", "w", "-o", "jsonpath={.spec.size}"), "3")
	require.Regexp(t, `^NAME +AGE\nw +\d+s\n$`, k.run("get", "widgets"))
	require.Equal(t, "No resources found\n", k.run("get", "deploy,po,no,ns"))
	require.Contains(t, k.run("version"), "Server Version: v1.37.2")
}

func TestKubectlWatches(t *testing.T) {
	k := newKubectl(t)
	create := func(name string) {
		_, err := k.server.Put("configmaps", map[string]any{"metadata": map[string]any{"name": name}})
		require.NoError(t, err)
	}
	create("first")
	cmd := k.command("get", "cm", "-w", "--output-watch-events", "-o", "json")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	events := json.NewDecoder(bufio.NewReader(out))
	expect := func(kind, name string) {
		t.Helper()
		var event struct {
			Type   string
			Object struct{ Metadata struct{ Name string } }
		}
		require.NoError(t, events.Decode(&event), "%s", &stderr)
		require.Equal(t, kind+" "+name, event.Type+" "+event.Object.Metadata.Name)
	}
	expect("ADDED", "first")
	create("second")
	expect("ADDED", "second")
	_, err = k.server.Put("configmaps", `{"metadata":{"name":"second"},"data":{"k":"v"}}`)
	require.NoError(t, err)
	expect("MODIFIED", "second")
	require.NoError(t, k.server.Delete("configmaps", "default", "first"))
	expect("DELETED", "first")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // returns an error because the process was killed
}
