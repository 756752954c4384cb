package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
)

// lwcat runs the built lwcat binary in a separate namespace of a real server.
type lwcat struct {
	*testing.T
	*kube.Cluster
	path, namespace string
}

func newLwcat(t *testing.T) *lwcat {
	l := &lwcat{T: t, Cluster: shared.Get(t), path: buildLwcat(t)}
	var namespace struct{ Metadata struct{ Name string } }
	require.NoError(t, json.Unmarshal([]byte(l.write(http.MethodPost, "/api/v1/namespaces", `{"metadata":{"generateName":"lwcat-"}}`)), &namespace))
	l.namespace = namespace.Metadata.Name
	return l
}

func buildLwcat(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "lwcat")
	build := exec.Command("go", "build", "-o", path, "./cmd/lwcat")
	build.Dir = ".."
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

func (l *lwcat) write(method, path, body string) string {
	l.Helper()
	code, text, err := l.Do(l.Context(), method, path, "application/json", body)
	require.NoError(l, err)
	require.Less(l, code, 300, "%s", text)
	return string(text)
}

func (l *lwcat) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(l.Context(), time.Minute)
	l.Cleanup(cancel)
	args = append([]string{"-s", l.URL, "--certificate-authority", l.CAFile, "--token", l.AdminToken, "-n", l.namespace}, args...)
	return exec.CommandContext(ctx, l.path, args...)
}

type event struct {
	Type   string
	Object struct {
		Kind     string
		Metadata struct{ Name string }
	}
}

func (e event) String() string { return e.Type + " " + e.Object.Kind + " " + e.Object.Metadata.Name }

func TestLwcatFindsResources(t *testing.T) {
	l := newLwcat(t)
	require.NoError(t, l.CreateCRD(t.Context()))
	l.write(http.MethodPost, "/api/v1/namespaces/"+l.namespace+"/configmaps", `{"metadata":{"name":"a"}}`)
	l.write(http.MethodPost, "/apis/lw.example.com/v1/namespaces/"+l.namespace+"/widgets", `{"apiVersion":"lw.example.com/v1","kind":"Widget","metadata":{"name":"w"}}`)
	l.write(http.MethodPost, "/apis/apps/v1/namespaces/"+l.namespace+"/deployments", `{"metadata":{"name":"web"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"x"}]}}}}`)
	for name, want := range map[string]string{
		"cm":                     "ADDED ConfigMap a",
		"configmaps":             "ADDED ConfigMap a",
		"ns/" + l.namespace:      "ADDED Namespace " + l.namespace,
		"widgets":                "ADDED Widget w",
		"widgets.lw.example.com": "ADDED Widget w",
		"deploy.apps":            "ADDED Deployment web",
		"deployments.v1.apps":    "ADDED Deployment web",
		"CM/a":                   "ADDED ConfigMap a",
		"/api/v1/watch/namespaces/" + l.namespace + "/configmaps/a": "ADDED ConfigMap a",
		"/api/v1/namespaces/" + l.namespace + "/configmaps":         "ADDED ConfigMap a",
	} {
		out, err := l.command("--once", "-o", "jsonl", name).CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
		var e event
		require.NoError(t, json.Unmarshal(out, &e), "%s: %s", name, out)
		require.Equal(t, want, e.String(), name)
	}
	for args, want := range map[string]string{
		"componentstatuses":    "componentstatuses cannot be watched: the server only supports get, list",
		"bindings":             "bindings cannot be watched: the server only supports create",
		"confgmaps":            `the server has no resource "confgmaps"; did you mean configmaps?`,
		"replicasets.autoscal": `the server has no resource "replicasets.autoscal"`,
	} {
		out, err := l.command(strings.Fields("--once " + args)...).CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), want)
	}
	out, err := l.command("--once", "events", "events.v1.events.k8s.io", "horizontalpodautoscalers.autoscal", "hpa.v2.autoscaling").CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = l.command("--token", "wrong", "cm").CombinedOutput()
	require.Equal(t, 1, err.(*exec.ExitError).ExitCode())
	require.Contains(t, string(out), "401 Unauthorized")
}

func TestLwcatSurvivesServerRestart(t *testing.T) {
	l := newLwcat(t)
	configMaps := "/api/v1/namespaces/" + l.namespace + "/configmaps"
	l.write(http.MethodPost, configMaps, `{"metadata":{"name":"a"}}`)
	cmd := l.command("-o", "jsonl", "cm")
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(stdout)
	expect := func(want string) {
		t.Helper()
		require.True(t, lines.Scan(), "%s", &stderr)
		var e event
		require.NoError(t, json.Unmarshal(lines.Bytes(), &e))
		require.Equal(t, want, e.String())
	}
	expect("ADDED ConfigMap a")
	require.NoError(t, l.ExpireVersions(t.Context()))
	l.write(http.MethodPost, configMaps, `{"metadata":{"name":"b"}}`)
	expect("ADDED ConfigMap b")
	l.write(http.MethodDelete, configMaps+"/a", "")
	expect("DELETED ConfigMap a")
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Equal(t, 130, cmd.Wait().(*exec.ExitError).ExitCode())
	require.True(t, strings.Contains(stderr.String(), "410 Expired"), "%s", &stderr)
}
