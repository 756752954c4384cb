package e2e

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	"github.com/seed-6d2a410a/listwatch/transport/ws"
)

// TestKubeconfig compares listwatch with kubectl for each kubeconfig user. Either both can read Pods, or both get the
// same error.
func TestKubeconfig(t *testing.T) {
	c := shared.Get(t)
	read := func(path string) []byte {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return text
	}
	folder := t.TempDir()
	put := func(name string, text []byte) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, text, 0o600))
		return path
	}
	// plugin returns a user whose credential plugin is cat, which prints a file with the given credentials.
	plugin := func(status map[string]string) map[string]any {
		text, err := json.Marshal(map[string]any{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status})
		require.NoError(t, err)
		path := put("given-"+status["token"], text)
		return map[string]any{"exec": map[string]any{"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never", "command": "cat", "args": []string{path}}}
	}
	put("admin.crt", read(c.ClientCertFile))
	certificate := map[string]string{"clientCertificateData": string(read(c.ClientCertFile)), "clientKeyData": string(read(c.ClientKeyFile))}
	users := map[string]map[string]any{
		"admin certificate from a file":    {"client-certificate": "admin.crt", "client-key": c.ClientKeyFile},
		"admin certificate as data":        {"client-certificate-data": read(c.ClientCertFile), "client-key-data": read(c.ClientKeyFile)},
		"admin certificate from a plugin":  plugin(certificate),
		"admin token":                      {"token": c.AdminToken},
		"admin token from a file":          {"tokenFile": put("token", []byte(c.AdminToken))},
		"admin token from a plugin":        plugin(map[string]string{"token": c.AdminToken}),
		"token without permissions":        {"token": c.NobodyToken},
		"impersonated user with groups":    {"token": c.AdminToken, "as": "jane", "as-uid": "7", "as-groups": []string{"system:masters", "b"}, "as-user-extra": map[string][]string{"example.com/x%y": {"1", "2"}}},
		"impersonated user without groups": {"client-certificate": "admin.crt", "client-key": c.ClientKeyFile, "as": "jane"},
	}
	var entries, contexts []any
	for name, user := range users {
		entries = append(entries, map[string]any{"name": name, "user": user})
		contexts = append(contexts, map[string]any{"name": name, "context": map[string]string{"cluster": "test", "user": name}})
	}
	text, err := json.Marshal(map[string]any{
		"kind": "Config", "apiVersion": "v1", "users": entries, "contexts": contexts,
		"clusters": []any{map[string]any{"name": "test", "cluster": map[string]string{
			"server": c.URL, "certificate-authority-data": base64.StdEncoding.EncodeToString(c.CAPEM), "tls-server-name": "localhost"}}},
	})
	require.NoError(t, err)
	path := put("config", text)
	for name := range users {
		t.Run(name, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), c.Kubectl, "--kubeconfig", path, "--context", name, "get", "pods", "-o", "name").CombinedOutput()
			allowed := err == nil
			require.Equal(t, name != "token without permissions" && name != "impersonated user without groups", allowed, "kubectl: %s", out)

			config, err := kubeconfig.Load(&kubeconfig.Options{Path: path, Context: name})
			require.NoError(t, err)
			overHTTP, err := lwhttp.New(config.Server, config.HTTP)
			require.NoError(t, err)
			defer overHTTP.Close()
			for _, transport := range []lw.Transport{overHTTP, ws.New(overHTTP)} {
				client, err := lw.NewClient(transport, lw.Pods(config.Namespace), lw.RawCodec{}, nil)
				require.NoError(t, err)
				for event := range lw.ListAndWatch(t.Context(), client, &lw.Options{NoStreamingList: true}) {
					if event.Type == lw.WatchStarted {
						require.True(t, allowed)
						break
					}
					if event.Type == lw.Interrupted {
						refusal, _ := errors.AsType[*lw.StatusError](event.Interruption.Err)
						require.NotNil(t, refusal, "%v", event.Interruption.Err)
						require.False(t, allowed)
						require.Contains(t, string(out), refusal.Message, "kubectl must print the same message")
						break
					}
				}
			}
		})
	}
}
