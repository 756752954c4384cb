//go:build !js

package kubeconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	"github.com/stretchr/testify/require"
)

// KUBECONFIG overrides the default file, and Path overrides both.
func TestHomeAndEnvironment(t *testing.T) {
	home := onlyFile(t)
	server := func(opts *kubeconfig.Options) string {
		config, err := kubeconfig.Load(opts)
		require.NoError(t, err)
		return config.Server
	}
	text := func(server string) string { return read(t, file(t, "server: "+server, "{}")) }
	write(t, filepath.Join(home, ".kube", "config"), text("https://home"))
	require.Equal(t, "https://home", server(nil))
	t.Setenv("KUBECONFIG", write(t, filepath.Join(home, "other"), text("https://environment")))
	require.Equal(t, "https://environment", server(nil))
	path := write(t, filepath.Join(home, "third"), text("https://option"))
	require.Equal(t, "https://option", server(&kubeconfig.Options{Path: path}))
}

func read(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// If several files contain an entry of the same name, Load must use the whole entry from the first file. Load ignores
// missing and empty files. Paths are relative to the file that contains them.
func TestMerge(t *testing.T) {
	home := onlyFile(t)
	write(t, home+"/a/token", "ta")
	write(t, home+"/b/token", "tb")
	first := write(t, home+"/a/config", `
contexts:
- {name: one, context: {cluster: east, user: dev, namespace: shop}}
clusters:
- {name: east, cluster: {server: https://a}}
users:
- {name: dev, user: {tokenFile: token}}
`)
	second := write(t, home+"/b/config", `
current-context: two
contexts:
- {name: one, context: {cluster: west}}
- {name: two, context: {cluster: west, user: ops}}
clusters:
- {name: east, cluster: {server: https://b, tls-server-name: b}}
- {name: west, cluster: {server: https://west}}
users:
- {name: ops, user: {tokenFile: ../b/token}}
`)
	third := write(t, home+"/c", "current-context: one\n")
	t.Setenv("KUBECONFIG", strings.Join([]string{home + "/none", first, "", write(t, home+"/empty", ""), second, third, first}, string(filepath.ListSeparator)))

	config, err := kubeconfig.Load(nil)
	require.NoError(t, err)
	require.Equal(t, []string{"https://west", "default", "two", "west", "ops"}, []string{config.Server, config.Namespace, config.Context, config.Cluster, config.User})
	require.Equal(t, filepath.Join(home, "b", "token"), config.HTTP.TokenFile)

	config, err = kubeconfig.Load(&kubeconfig.Options{Context: "one"})
	require.NoError(t, err)
	require.Equal(t, []string{"https://a", "shop", "one", "east", "dev"}, []string{config.Server, config.Namespace, config.Context, config.Cluster, config.User})
	require.Equal(t, filepath.Join(home, "a", "token"), config.HTTP.TokenFile)
	require.Empty(t, config.HTTP.ServerName, "the entry in the second file must be ignored")

	contexts, clusters, users, err := kubeconfig.Names(nil)
	require.NoError(t, err)
	require.Equal(t, [][]string{{"one", "two"}, {"east", "west"}, {"dev", "ops"}}, [][]string{contexts, clusters, users})
}

// Load must accept JSON, a byte order mark, CRLF, aliases, merged mappings, nulls and several documents.
func TestUnusualYAML(t *testing.T) {
	onlyFile(t)
	for name, text := range map[string]string{
		"JSON":            `{"kind":"Config","apiVersion":"v1","current-context":"c","contexts":[{"name":"c","context":{"cluster":"k","user":"u","namespace":"n"}}],"clusters":[{"name":"k","cluster":{"server":"https://s"}}],"users":[{"name":"u","user":{"token":"t"}}]}`,
		"aliases":         "current-context: &c c\ncontexts: [{name: *c, context: {cluster: k, user: u, namespace: n}}]\nclusters: [{name: k, cluster: &k {server: 'https://s'}}, {name: l, cluster: *k}]\nusers: [{name: u, user: {token: t}}]\n",
		"merged mappings": "x: &x {cluster: k, namespace: wrong}\ny: &y {user: u}\ncurrent-context: c\ncontexts: [{name: c, context: {<<: [*x, *y], namespace: n}}]\nclusters: [{name: k, cluster: {server: 'https://s'}}]\nusers: [{name: u, user: {token: t}}]\n",
		"nulls":           "kind:\npreferences: {}\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k, user: u, namespace: n}}]\nclusters: [{name: k, cluster: {server: 'https://s', proxy-url: , certificate-authority: ~}}]\nusers: [{name: u, user: {token: t, exec: , as-groups: null}}]\n",
		"documents":       "---\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k, user: u, namespace: n}}]\nclusters: [{name: k, cluster: {server: 'https://s'}}]\nusers: [{name: u, user: {token: t}}]\n---\nother: true\n",
	} {
		for form, text := range map[string]string{"": text, " with a byte order mark": "\ufeff" + text, " with CRLF": strings.ReplaceAll(text, "\n", "\r\n")} {
			config, err := kubeconfig.Load(&kubeconfig.Options{Path: write(t, filepath.Join(t.TempDir(), "config"), text)})
			require.NoError(t, err, name+form)
			require.Equal(t, []string{"https://s", "n", "t"}, []string{config.Server, config.Namespace, config.HTTP.Token}, name+form)
		}
	}
}
