// Package environment implements the controller from docs/tutorials/controller.md. The controller adds an environment
// label to each Namespace that has none.
package environment

import (
	"context"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/workqueue"
	"github.com/seed-6d2a410a/listwatch/lw"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Run labels Namespaces until ctx is canceled. It uses the transport for reads and the clientset for writes.
func Run(ctx context.Context, transport lw.Transport, clientset kubernetes.Interface) error {
	resource, err := lw.ParseResource("namespaces", "")
	if err != nil {
		return err
	}
	client, err := lw.NewClient(transport, resource, lw.RawCodec{}, nil)
	if err != nil {
		return err
	}
	informer := cache.NewInformer(client, nil)
	queue := enqueue(informer)
	var group cache.Group
	group.Add("namespaces", informer)
	return group.Run(ctx, func(ctx context.Context) error {
		for key := range queue.Keys(ctx) {
			if err := label(ctx, informer.Store(), clientset, key); err != nil {
				queue.Retry(key)
			}
		}
		return nil
	})
}

func enqueue(informer *cache.Informer[*lw.Object]) *workqueue.Queue[lw.Key] {
	queue := workqueue.New[lw.Key]()
	informer.Handle(cache.Handler[*lw.Object]{
		Added:    func(namespace *lw.Object, _ bool) { queue.Add(lw.KeyOf(namespace)) },
		Modified: func(_, namespace *lw.Object) { queue.Add(lw.KeyOf(namespace)) },
	}, &cache.HandlerOptions[*lw.Object]{Filter: unlabeled})
	return queue
}

func unlabeled(namespace *lw.Object) bool {
	_, labeled := namespace.Label("environment")
	return !labeled
}

func label(ctx context.Context, store *cache.Store[*lw.Object], clientset kubernetes.Interface, key lw.Key) error {
	namespace, ok := store.Get(key)
	if !ok || !unlabeled(namespace) {
		return nil // the Namespace was deleted or labeled in the meantime
	}
	patch := []byte(`{"metadata":{"labels":{"environment":"development"}}}`)
	_, err := clientset.CoreV1().Namespaces().Patch(ctx, key.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
