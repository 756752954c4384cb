package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
)

// program is a running controller from docs/migration.md.
type program struct {
	*testing.T
	command *exec.Cmd
}

func buildController(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "run")
	build := exec.Command("go", "build", "-o", path, "./run")
	build.Dir = "../examples/clientgo"
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

func startProgram(t *testing.T, c *kube.Cluster, path string) *program {
	command := exec.Command(path, "-kubeconfig", c.Kubeconfig)
	command.Stderr = os.Stderr
	require.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill() }) // fails if the program has already exited
	return &program{t, command}
}

// stop sends SIGTERM to the program and requires exit code 0.
func (p *program) stop() {
	p.Helper()
	require.NoError(p, p.command.Process.Signal(syscall.SIGTERM))
	require.NoError(p, p.command.Wait())
}

const (
	deploymentsPath = "/apis/apps/v1/namespaces/programs/deployments"
	podsPath        = "/api/v1/namespaces/programs/pods"
)

// programCourse writes to a cluster and checks how the controller reacts.
type programCourse struct {
	*testing.T
	*kube.Cluster
}

func (c programCourse) write(method, path, contentType, body string) {
	c.Helper()
	code, text, err := c.Do(c.Context(), method, path, contentType, body)
	require.NoError(c, err)
	require.Less(c, code, 300, "%s", text)
}

func (c programCourse) merge(path, body string) {
	c.Helper()
	c.write(http.MethodPatch, path, "application/merge-patch+json", body)
}

// eventually waits until a GET request succeeds with a body that satisfies condition.
func (c programCourse) eventually(path string, condition func(body []byte) bool) {
	c.Helper()
	require.Eventually(c, func() bool {
		code, body, err := c.Do(c.Context(), http.MethodGet, path, "", "")
		return err == nil && code == http.StatusOK && condition(body)
	}, time.Minute, 50*time.Millisecond)
}

func (c programCourse) pods(names ...string) {
	c.Helper()
	c.eventually(podsPath, func(body []byte) bool {
		var list struct {
			Items []struct{ Metadata struct{ Name string } }
		}
		found := []string{}
		if json.Unmarshal(body, &list) != nil {
			return false
		}
		for _, pod := range list.Items {
			found = append(found, pod.Metadata.Name)
		}
		return strings.Join(found, " ") == strings.Join(names, " ")
	})
}

func (c programCourse) running(number string) {
	c.Helper()
	c.eventually(deploymentsPath+"/web", func(body []byte) bool {
		var deployment struct {
			Metadata struct{ Annotations map[string]string }
		}
		return json.Unmarshal(body, &deployment) == nil && deployment.Metadata.Annotations["example.com/running"] == number
	})
}

// run creates a Deployment, changes it, and waits for the Pods and the annotation that the controller writes.
func (c programCourse) run() {
	labels := `"labels":{"example.com/controller":"on"}`
	c.write(http.MethodPost, deploymentsPath, "application/json", `{"metadata":{"name":"web",`+labels+`},"spec":{"replicas":2,
		"selector":{"matchLabels":{"example.com/controller":"on"}},
		"template":{"metadata":{`+labels+`},"spec":{"containers":[{"name":"app","image":"web"}]}}}}`)
	c.pods("web-0", "web-1")
	c.running("0")
	c.merge(podsPath+"/web-0/status", `{"status":{"phase":"Running","containerStatuses":[{"name":"app","restartCount":2,
		"image":"web","imageID":"web","ready":true,"state":{},"lastState":{}}]}}`)
	c.running("1")
	c.merge(deploymentsPath+"/web", `{"spec":{"replicas":3}}`)
	c.pods("web-0", "web-1", "web-2")
	require.NoError(c, c.ExpireVersions(c.Context()))
	c.merge(deploymentsPath+"/web", `{"spec":{"replicas":1}}`)
	c.pods("web-0")
}

// TestController runs the controller from docs/migration.md.
func TestController(t *testing.T) {
	c := programCourse{t, kube.Start(t)}
	path := buildController(t)
	c.write(http.MethodPost, "/api/v1/namespaces", "application/json", `{"metadata":{"name":"programs"}}`)
	controller := startProgram(t, c.Cluster, path)
	c.run()
	controller.stop()
}
