//go:build !js

package kubeconfig_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
)

// written makes a kubeconfig.
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

// A name that does not exist is told with up to three others, the most similar first.
func ExampleUnknownError() {
	path, remove := written(`{contexts: [{name: staging}, {name: prod}]}`)
	defer remove()
	_, err := kubeconfig.Load(&kubeconfig.Options{Path: path, Context: "stagign"})
	unknown, ok := errors.AsType[*kubeconfig.UnknownError](err)
	fmt.Println(ok, unknown.Kind, unknown.Near)
	fmt.Println(unknown)
	// Output:
	// true context [staging prod]
	// there is no context "stagign"; there is "staging", "prod"
}

// A mistake is told with its line, entry and field.
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
	fmt.Println(ok, wrong.Line, wrong.Entry, wrong.Field)
	// Output: true 12 user "me" tokenFile
}

// A credential plugin that fails is told with its last words.
func ExampleExecError() {
	err := &kubeconfig.Error{Entry: `user "dev"`, Field: "exec", Err: &kubeconfig.ExecError{
		Command: "login", Err: errors.New("exit status 1"), Stderr: "the session is over",
	}}
	failed, ok := errors.AsType[*kubeconfig.ExecError](err)
	fmt.Println(ok, failed.Command)
	fmt.Println(err)
	// Output:
	// true login
	// user "dev": exec: the credential plugin login: exit status 1: the session is over
}

// The names in a kubeconfig, for completion.
func ExampleList() {
	path, remove := written(`{current-context: dev, contexts: [{name: prod}, {name: dev}], clusters: [{name: local}]}`)
	defer remove()
	names, err := kubeconfig.List(&kubeconfig.Options{Path: path})
	if err != nil {
		panic(err)
	}
	fmt.Println(names.Contexts, names.Clusters, names.Current)
	// Output: [dev prod] [local] dev
}
