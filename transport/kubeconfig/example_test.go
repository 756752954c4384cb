//go:build !js

package kubeconfig_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
)

// This example lists the Pods in the namespace of the current context.
func Example() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	if _, err = server.Put("pods", `{"metadata":{"namespace":"shop","name":"web-0"}}`); err != nil {
		panic(err)
	}
	folder, err := os.MkdirTemp("", "kubeconfig")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "config")
	err = os.WriteFile(path, []byte(`
current-context: dev
contexts:
- name: dev
  context: {cluster: local, user: me, namespace: shop}
clusters:
- name: local
  cluster: {server: "`+server.URL+`"}
users:
- name: me
  user: {}
`), 0o600)
	if err != nil {
		panic(err)
	}

	transport, namespace, err := kubeconfig.Connect(&kubeconfig.Options{Path: path}) // Connect(nil) reads the default files instead
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	client, err := lw.NewClient(transport, lw.Pods(namespace), lw.RawCodec{}, nil)
	if err != nil {
		panic(err)
	}
	for event := range lw.ListAndWatch(context.Background(), client, nil) {
		if event.Type == lw.Added {
			fmt.Println(lw.KeyOf(event.Object))
		}
		if event.Type == lw.Synced {
			break
		}
	}
	// Output:
	// shop/web-0
}
