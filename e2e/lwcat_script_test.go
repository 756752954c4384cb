package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/lwcatscript"
)

// TestLwcatScripts runs the scripts in cmd/lwcat/testdata/script against a real server. Each script stops before the
// first step that needs the embedded server.
func TestLwcatScripts(t *testing.T) {
	l := newLwcat(t)
	lwcatscript.Run(t, filepath.Join("..", "cmd", "lwcat", "testdata", "script"), false, func(env *testscript.Env) (*lwcatscript.Server, error) {
		code, text, err := l.Do(context.Background(), http.MethodPost, "/api/v1/namespaces", "application/json", `{"metadata":{"generateName":"script-"}}`)
		if err == nil && code >= 300 {
			err = fmt.Errorf("the server answered %d to the creation of a namespace: %s", code, text)
		}
		if err != nil {
			return nil, err
		}
		var namespace struct{ Metadata struct{ Name string } }
		err = json.Unmarshal(text, &namespace)
		env.Setenv("KUBECONFIG", l.Kubeconfig)
		env.Setenv("PATH", filepath.Dir(l.path)+string(os.PathListSeparator)+os.Getenv("PATH"))
		return &lwcatscript.Server{URL: l.URL, Token: l.AdminToken, Namespace: namespace.Metadata.Name, Client: l.HTTPClient()}, err
	})
}
