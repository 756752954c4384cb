package clients

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
)

// TestKubeconfigYAMLMatchesClientGo checks that listwatch and client-go read the same settings from YAML, or both
// reject it. In some test cases, the loaders differ deliberately. The field "differs" of such a case contains the
// reason.
func TestKubeconfigYAMLMatchesClientGo(t *testing.T) {
	const here = "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u, namespace: ns}}]\n"
	const rest = here + "clusters: [{name: k, cluster: {server: 'https://s'}}]\n"
	const ignored = "listwatch ignores kind and apiVersion, because a file of another kind has no context anyway"
	for _, c := range []struct{ name, text, differs string }{
		{"block scalars", rest + "users:\n- name: u\n  user:\n    token: >-\n      t1\n", ""},
		{"number as token", rest + "users: [{name: u, user: {token: 123}}]", ""},
		{"float as token", rest + "users: [{name: u, user: {token: 1e3}}]", ""},
		{"boolean as token", rest + "users: [{name: u, user: {token: true}}]", ""},
		{"date as token", rest + "users: [{name: u, user: {token: 2001-01-01}}]", ""},
		{"null as token", rest + "users: [{name: u, user: {token: null, as: ~}}]", ""},
		{"empty user", rest + "users: [{name: u, user: }]", ""},
		{"octal number as token", rest + "users: [{name: u, user: {token: 0o17}}]", ""},
		{"base 60", rest + "users: [{name: u, user: {token: '1:30'}}]", ""},
		{"field name in a different case", rest + "users: [{name: u, user: {Token: t}}]", ""},
		{"unknown fields", rest + "users: [{name: u, user: {token: t, other: [1]}, x: y}]\nextra: 1", ""},
		{"kind and apiVersion", "kind: Config\napiVersion: v1\n" + rest + "users: [{name: u, user: {token: t}}]", ""},
		{"wrong API group", "kind: Config\napiVersion: x/v1\n" + rest + "users: [{name: u, user: {token: t}}]", ignored},
		{"apiVersion without kind", "apiVersion: v1\n" + rest + "users: [{name: u, user: {token: t}}]", ""},
		{"wrong kind", "kind: Pod\napiVersion: v1\n" + rest + "users: [{name: u, user: {token: t}}]", ignored},
		{"wrong API version", "kind: Config\napiVersion: v2\n" + rest + "users: [{name: u, user: {token: t}}]", ignored},
		{"kind without apiVersion", "kind: Config\n" + rest + "users: [{name: u, user: {token: t}}]", ""},
		{"anchor", rest + "users: [{name: u, user: &u {token: t}}, {name: v, user: *u}]", ""},
		{"merge key", "x: &x {token: t}\n" + rest + "users: [{name: u, user: {<<: *x}}]", ""},
		{"overridden merge key", "x: &x {token: t}\n" + rest + "users: [{name: u, user: {<<: *x, token: mine}}]", ""},
		{"merge key after a field", "x: &x {token: t}\n" + rest + "users: [{name: u, user: {token: mine, <<: *x}}]", "in the YAML specification, a mapping's own keys take precedence over merged keys, regardless of their order"},
		{"two documents", rest + "users: [{name: u, user: {token: t}}]\n---\ncurrent-context: other\n", ""},
		{"base64 with a line break", here + "clusters: [{name: k, cluster: {server: 'https://s'}}]\nusers:\n- name: u\n  user:\n    token: t\n    client-key-data: |\n      eA==\n", "key without a certificate"},
		{"off as a boolean", here + "clusters: [{name: k, cluster: {server: 'https://s', insecure-skip-tls-verify: off}}]\nusers: [{name: u, user: {}}]", ""},
		{"yes as a string", rest + "users: [{name: u, user: {token: yes}}]", "in YAML 1.2, yes is a string"},
		{"invalid base64", here + "clusters: [{name: k, cluster: {server: 'https://s', certificate-authority-data: '!'}}]\nusers: [{name: u, user: {}}]", ""},
		{"duplicate user name", rest + "users: [{name: u, user: {token: t}}, {name: u, user: {}}]", ""},
		{"list instead of a mapping", rest + "users: [{name: u, user: []}]", ""},
		{"string instead of a list", rest + "users: u", ""},
		{"string as a boolean", here + "clusters: [{name: k, cluster: {server: 'https://s', insecure-skip-tls-verify: 'true'}}]\nusers: [{name: u, user: {}}]", ""},
		{"byte order mark", "\ufeff" + rest + "users: [{name: u, user: {token: t}}]", ""},
		{"tab as indentation", rest + "users:\n\t- name: u\n", ""},
		{"JSON", `{"current-context":"c","contexts":[{"name":"c","context":{"cluster":"k","user":"u","namespace":"ns"}}],"clusters":[{"name":"k","cluster":{"server":"https://s"}}],"users":[{"name":"u","user":{"token":"t\u0031"}}]}`, ""},
		{"duplicate key", rest + "users: [{name: u, user: {token: t, token: u}}]", "listwatch rejects duplicate keys; client-go uses the last value"},
		{"yes as a boolean", here + "clusters: [{name: k, cluster: {server: 'https://s', insecure-skip-tls-verify: yes}}]\nusers: [{name: u, user: {}}]", ""},
		{"error in an unused user entry", rest + "users: [{name: u, user: {token: t}}, {name: v, user: {token: 1}}]", "listwatch ignores errors in unused entries"},
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
		require.Equal(t, c.differs == "", same, "%s: listwatch %+v %v, client-go %v %v", c.name, ours, ourErr, theirs, theirErr)
	}
}
