package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/lwcatscript"
)

// TestLwcatScripts runs the scripts of cmd/lwcat against a real server. Each script stops before the first step that
// needs the embedded server.
func TestLwcatScripts(t *testing.T) {
	l := newLwcat(t)
	lwcatscript.Run(t, filepath.Join("..", "cmd", "lwcat", "testdata", "script"), false, func(env *testscript.Env) (lwcatscript.Server, error) {
		code, text, err := l.Do(context.Background(), http.MethodPost, "/api/v1/namespaces", "application/json", `{"metadata":{"generateName":"script-"}}`)
		if err != nil || code >= 300 {
			return nil, err
		}
		var namespace struct{ Metadata struct{ Name string } }
		err = json.Unmarshal(text, &namespace)
		env.Setenv("KUBECONFIG", l.Kubeconfig)
		env.Setenv("PATH", filepath.Dir(l.path)+string(os.PathListSeparator)+os.Getenv("PATH"))
		return realServer{t, l.Cluster, namespace.Metadata.Name}, err
	})
}

type realServer struct {
	t *testing.T
	*kube.Cluster
	namespace string
}

func (r realServer) URL() string          { return r.Cluster.URL }
func (r realServer) Token() string        { return r.AdminToken }
func (r realServer) Namespace() string    { return r.namespace }
func (r realServer) Client() *http.Client { return r.HTTPClient() }
func (r realServer) Restart() {
	r.Kill()
	require.NoError(r.t, r.StartAPIServer(context.Background()))
}
