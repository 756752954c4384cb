//go:build !js

package kubeconfig_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
)

// written writes a kubeconfig file and returns its path. remove deletes the file.
func written(text string) (path string, remove func()) {
	folder, err := os.MkdirTemp("", "kubeconfig")
	if err != nil {
		panic(err)
	}
	path = filepath.Join(folder, "config")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		panic(err)
	}
	return path, func() { _ = os.RemoveAll(folder) }
}

// The error for an unknown name suggests up to three existing names, the most similar first.
func ExampleLoad() {
	path, remove := written(`{contexts: [{name: staging}, {name: prod}]}`)
	defer remove()
	_, err := kubeconfig.Load(&kubeconfig.Options{Path: path, Context: "stagign"})
	fmt.Println(err)
	// Output: there is no context "stagign"; try "staging" or "prod"
}

// An Error names the line, the entry and the field that contain a mistake.
func ExampleError() {
	path, remove := written(`
current-context: dev
contexts:
- name: dev
  context: {cluster: local, user: me}
clusters:
- name: local
  cluster: {server: "https://127.0.0.1:6443"}
users:
- name: me
  user:
    tokenFile: /nowhere/token
`)
	defer remove()
	_, err := kubeconfig.Load(&kubeconfig.Options{Path: path})
	wrong, ok := errors.AsType[*kubeconfig.Error](err)
	fmt.Println(ok, wrong.Entry)
	fmt.Println(strings.TrimPrefix(wrong.Error(), wrong.File))
	// Output:
	// true user "me"
	// :12:16: user "me": tokenFile: open /nowhere/token: no such file or directory
}

// The Error for a missing credential plugin contains the installHint of the kubeconfig.
func ExampleError_plugin() {
	path, remove := written(`
current-context: dev
contexts: [{name: dev, context: {cluster: local, user: me}}]
clusters: [{name: local, cluster: {server: "https://127.0.0.1:6443"}}]
users:
- name: me
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: no-such-plugin, installHint: install it}}
`)
	defer remove()
	_, err := kubeconfig.Load(&kubeconfig.Options{Path: path})
	wrong, ok := errors.AsType[*kubeconfig.Error](err)
	fmt.Println(ok, wrong.Hint)
	// Output: true install it
}
