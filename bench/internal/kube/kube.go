// Package kube starts the kube-apiserver that was built by make e2e-server.
package kube

import (
	"os"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/kubeassets"
)

// Start starts etcd and a kube-apiserver with the CustomResourceDefinitions in the given folders. root is the
// repository's root. Clients that use the returned configuration have no rate limit. The caller must call Stop.
func Start(root string, definitions ...string) (*envtest.Environment, error) {
	folder, err := os.MkdirTemp("", "kube")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := kubeassets.Write(root, folder); err != nil {
		return nil, err
	}
	environment := &envtest.Environment{BinaryAssetsDirectory: folder, CRDDirectoryPaths: definitions, ErrorIfCRDPathMissing: true}
	config, err := environment.Start()
	if err == nil {
		config.QPS = -1
	}
	return environment, err
}
