// Package kube starts the kube-apiserver that was built by make e2e-server, for the benchmarks dropin, lwcat and operator.
package kube

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/kubeassets"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// Start starts etcd and a kube-apiserver with the CustomResourceDefinitions in the given folders. root is the
// repository's root. Clients that use the returned configuration have no rate limit. The caller must call Stop.
func Start(root string, definitions ...string) (*envtest.Environment, error) {
	folder, err := os.MkdirTemp("", "kube")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // it contains only scripts, which have started the servers by then
	if err := kubeassets.Write(root, folder); err != nil {
		return nil, err
	}
	environment := &envtest.Environment{BinaryAssetsDirectory: folder, CRDDirectoryPaths: definitions, ErrorIfCRDPathMissing: true}
	config, err := environment.Start()
	if err != nil { // the servers may be running, for example if a CustomResourceDefinition is invalid
		return nil, errors.Join(err, environment.Stop())
	}
	config.QPS = -1
	return environment, nil
}

// CreatePods creates n Pods with up to 16 concurrent requests, and returns their names. It panics if a request fails.
func CreatePods(ctx context.Context, pods typedcore.PodInterface, n int) (names []string) {
	var running errgroup.Group
	running.SetLimit(16)
	for _, of := range sample.Pods(serve.Seed, n) {
		var pod corev1.Pod
		harness.Must(json.Unmarshal([]byte(of.JSON()), &pod))
		pod.Namespace, pod.ResourceVersion, pod.UID, pod.ManagedFields = "", "", "", nil // the server or the client sets them
		names = append(names, pod.Name)
		running.Go(func() error {
			made := harness.MustGet(pods.Create(ctx, &pod, metav1.CreateOptions{}))
			made.Status = pod.Status // Create ignores the status
			harness.MustGet(pods.UpdateStatus(ctx, made, metav1.UpdateOptions{}))
			return nil
		})
	}
	_ = running.Wait()
	return names
}
