package clients

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
)

// TestKubeconfigTextAsClientGo: what YAML can look like is read as client-go reads it, or refused as there, but for what is named.
func TestKubeconfigTextAsClientGo(t *testing.T) {
	const here = "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u, namespace: ns}}]\n"
	const rest = here + "clusters: [{name: k, cluster: {server: 'https://s'}}]\n"
	for _, c := range []struct{ name, text, differs string }{
		{"block scalars", rest + "users:\n- name: u\n  user:\n    token: >-\n      t1\n", ""},
		{"a number for a token", rest + "users: [{name: u, user: {token: 123}}]", ""},
		{"a float", rest + "users: [{name: u, user: {token: 1e3}}]", ""},
		{"true", rest + "users: [{name: u, user: {token: true}}]", ""},
		{"a date", rest + "users: [{name: u, user: {token: 2001-01-01}}]", ""},
		{"null", rest + "users: [{name: u, user: {token: null, as: ~}}]", ""},
		{"nothing", rest + "users: [{name: u, user: }]", ""},
		{"octal", rest + "users: [{name: u, user: {token: 0o17}}]", ""},
		{"base 60", rest + "users: [{name: u, user: {token: '1:30'}}]", ""},
		{"other letters' case", rest + "users: [{name: u, user: {Token: t}}]", ""},
		{"unknown fields", rest + "users: [{name: u, user: {token: t, other: [1]}, x: y}]\nextra: 1", ""},
		{"kind and version", "kind: Config\napiVersion: v1\n" + rest + "users: [{name: u, user: {token: t}}]", ""},
		{"another group", "kind: Config\napiVersion: x/v1\n" + rest + "users: [{name: u, user: {token: t}}]", ""},
		{"version alone", "apiVersion: v1\n" + rest + "users: [{name: u, user: {token: t}}]", ""},
		{"another kind", "kind: Pod\napiVersion: v1\n" + rest + "users: [{name: u, user: {token: t}}]", ""},
		{"another version", "kind: Config\napiVersion: v2\n" + rest + "users: [{name: u, user: {token: t}}]", ""},
		{"kind alone", "kind: Config\n" + rest + "users: [{name: u, user: {token: t}}]", ""},
		{"an anchor", rest + "users: [{name: u, user: &u {token: t}}, {name: v, user: *u}]", ""},
		{"a merge", "x: &x {token: t}\n" + rest + "users: [{name: u, user: {<<: *x}}]", ""},
		{"a merge that is overridden", "x: &x {token: t}\n" + rest + "users: [{name: u, user: {<<: *x, token: mine}}]", ""},
		{"a merge behind", "x: &x {token: t}\n" + rest + "users: [{name: u, user: {token: mine, <<: *x}}]", "own members count wherever they stand, as YAML says"},
		{"two documents", rest + "users: [{name: u, user: {token: t}}]\n---\ncurrent-context: other\n", ""},
		{"base64 over lines", here + "clusters: [{name: k, cluster: {server: 'https://s'}}]\nusers:\n- name: u\n  user:\n    token: t\n    client-key-data: |\n      eA==\n", "a key without a certificate"},
		{"off for false", here + "clusters: [{name: k, cluster: {server: 'https://s', insecure-skip-tls-verify: off}}]\nusers: [{name: u, user: {}}]", ""},
		{"yes for text", rest + "users: [{name: u, user: {token: yes}}]", "YAML 1.2 has true and false, and yes is text"},
		{"no base64", here + "clusters: [{name: k, cluster: {server: 'https://s', certificate-authority-data: '!'}}]\nusers: [{name: u, user: {}}]", ""},
		{"a name twice", rest + "users: [{name: u, user: {token: t}}, {name: u, user: {}}]", ""},
		{"a list for a mapping", rest + "users: [{name: u, user: []}]", ""},
		{"text for a list", rest + "users: u", ""},
		{"a boolean that is text", here + "clusters: [{name: k, cluster: {server: 'https://s', insecure-skip-tls-verify: 'true'}}]\nusers: [{name: u, user: {}}]", ""},
		{"a byte order mark", "\ufeff" + rest + "users: [{name: u, user: {token: t}}]", ""},
		{"a tab", rest + "users:\n\t- name: u\n", ""},
		{"JSON", `{"current-context":"c","contexts":[{"name":"c","context":{"cluster":"k","user":"u","namespace":"ns"}}],"clusters":[{"name":"k","cluster":{"server":"https://s"}}],"users":[{"name":"u","user":{"token":"t\u0031"}}]}`, ""},
		{"a key twice", rest + "users: [{name: u, user: {token: t, token: u}}]", "it is a mistake, of which client-go takes the last"},
		{"yes for true", here + "clusters: [{name: k, cluster: {server: 'https://s', insecure-skip-tls-verify: yes}}]\nusers: [{name: u, user: {}}]", ""},
		{"a mistake elsewhere", rest + "users: [{name: u, user: {token: t}}, {name: v, user: {token: 1}}]", "it does not matter"},
	} {
		path := filepath.Join(t.TempDir(), "config")
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
		ours, ourErr := kubeconfig.Load(&kubeconfig.Options{Path: path})
		loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&clientcmd.ClientConfigLoadingRules{ExplicitPath: path}, &clientcmd.ConfigOverrides{})
		theirs, theirErr := loader.ClientConfig()
		same := (ourErr != nil) == (theirErr != nil)
		if ourErr == nil && theirErr == nil {
			namespace, _, err := loader.Namespace()
			require.NoError(t, err)
			same = theirs.Host == ours.Server && theirs.BearerToken == ours.HTTP.Token && namespace == ours.Namespace && theirs.Insecure == ours.HTTP.InsecureSkipVerify
		}
		require.Equal(t, c.differs == "", same, "%s: ours %+v %v, client-go %v %v", c.name, ours, ourErr, theirs, theirErr)
	}
}
