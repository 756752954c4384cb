//go:build !js

package kubeconfig_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// secret is the value of every secret field in the seed inputs of FuzzLoad.
const secret = "s3cr3t"

// FuzzLoad requires that Load either succeeds or returns an Error that names the file and contains no secrets.
func FuzzLoad(f *testing.F) {
	f.Add([]byte("current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: {server: 'https://s', certificate-authority-data: eA==}}]\nusers: [{name: u, user: {token: t, as-groups: [a], exec: {command: x}}}]"))
	f.Add([]byte(`{"current-context":"c","contexts":[{"name":"c","context":{"cluster":"k","user":"u"}}],"clusters":[{"name":"k","cluster":{"server":"https://s"}}],"users":[{"name":"u","user":{"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"true","interactiveMode":"Never","provideClusterInfo":true}}}]}`))
	f.Add([]byte("\ufeffa: &a [*a, *a]\nusers: *a\n<<: *a"))
	f.Add([]byte("a: &a {b: 1}\ncurrent-context: c\nclusters: [{name: k, cluster: {<<: [*a, *a], extensions: *a}}]\n"))
	f.Add([]byte("x: &x {<<: *x}\ncontexts:\n- *x\n-\n- {name: !!binary eA==, context: ~}\n"))
	f.Add([]byte("\t\x00"))
	for _, user := range []string{
		"token: s3cr3t", "token: [s3cr3t]", "tokenFile: /x, token: *s3cr3t", "username: u, password: s3cr3t", "client-key-data: s3cr3t, client-certificate-data: eA==",
		"exec: {apiVersion: client.authentication.k8s.io/v1, command: 'true', interactiveMode: Never, env: [{name: N, value: s3cr3t}]}",
	} {
		f.Add([]byte("current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: {server: 'https://s'}}]\nusers: [{name: u, user: {" + user + "}}]"))
	}
	f.Add([]byte(aliasBomb()))
	f.Fuzz(func(t *testing.T, text []byte) {
		onlyFile(t)
		path := write(t, filepath.Join(t.TempDir(), "config"), string(text))
		contexts, _, _, err := kubeconfig.Names(&kubeconfig.Options{Path: path})
		hides := hidesSecrets(text)
		if err != nil {
			require.False(t, hides && strings.Contains(err.Error(), secret), "%v", err)
			var typed *kubeconfig.Error
			require.ErrorAs(t, err, &typed)
			require.Equal(t, path, typed.File)
			return
		}
		for _, name := range append(contexts, "") {
			config, err := kubeconfig.Load(&kubeconfig.Options{Path: path, Context: name})
			if err == nil {
				require.True(t, strings.Contains(config.Server, "://"))
				require.NotNil(t, config.HTTP)
				continue
			}
			require.False(t, hides && strings.Contains(err.Error(), secret), "%v", err)
			var typed *kubeconfig.Error
			if !strings.Contains(err.Error(), kubeconfig.ErrNowhere.Error()) {
				require.ErrorAs(t, err, &typed)
			}
		}
	})
}

// hidesSecrets reports whether the string s3cr3t occurs only in secret fields. Errors may quote other fields, for
// example names.
func hidesSecrets(text []byte) bool {
	var document yaml.Node
	if yaml.Unmarshal(text, &document) != nil {
		return true
	}
	shown := false
	var look func(n *yaml.Node, hidden bool)
	look = func(n *yaml.Node, hidden bool) {
		shown = shown || !hidden && strings.Contains(n.Value, secret)
		for i, child := range n.Content {
			hides := hidden
			if n.Kind == yaml.MappingNode && i%2 == 1 {
				switch n.Content[i-1].Value {
				case "token", "password", "client-key-data", "value":
					hides = true
				}
			}
			look(child, hides)
		}
	}
	look(&document, false)
	return !shown
}

// aliasBomb returns a kubeconfig with nested YAML aliases in the cluster info of a plugin. The aliases would expand to
// 10^9 strings.
func aliasBomb() string {
	text := "a0: &a0 x\n"
	for i := range 9 {
		part := "*a" + string(rune('0'+i))
		text += "a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [" + part + strings.Repeat(", "+part, 9) + "]\n"
	}
	return text + `current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: 'https://s', extensions: [{name: client.authentication.k8s.io/exec, extension: *a9}]}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: 'true', interactiveMode: Never, provideClusterInfo: true}}}]
`
}

func TestAliasBomb(t *testing.T) {
	onlyFile(t)
	_, err := kubeconfig.Load(&kubeconfig.Options{Path: write(t, filepath.Join(t.TempDir(), "config"), aliasBomb())})
	require.ErrorContains(t, err, "cannot be written as JSON")
}

// Load must not take exponential time for nested YAML merges, which a hostile file may contain.
func TestMergeBomb(t *testing.T) {
	onlyFile(t)
	text := "m0: &m0 {server: x}\n"
	for i := range 12 {
		part := "*m" + strconv.Itoa(i)
		text += "m" + strconv.Itoa(i+1) + ": &m" + strconv.Itoa(i+1) + " {<<: [" + part + strings.Repeat(", "+part, 9) + "]}\n"
	}
	text += "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k, cluster: {<<: *m12}}]\n"
	_, err := kubeconfig.Load(&kubeconfig.Options{Path: write(t, filepath.Join(t.TempDir(), "config"), text)})
	require.ErrorContains(t, err, `cluster "k" contains an invalid merge`)
}
