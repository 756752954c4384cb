// Package listwatch implements a small controller with listwatch. Package clientgo implements the same controller with
// client-go.
package listwatch

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/workqueue"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Run reports the state of an app after each change, until ctx is done. It retries failed calls to the function report.
// It returns when all goroutines have ended.
func Run(ctx context.Context, path string, resync time.Duration, report func(string) error) error {
	transport, _, err := kubeconfig.Connect(&kubeconfig.Options{Path: path})
	if err != nil {
		return err
	}
	defer transport.Close()
	var group cache.Group
	queue := workqueue.New[lw.Key](nil)
	pods, err := follow[*corev1.Pod](&group, transport, lw.Pods(""), queue, resync)
	if err != nil {
		return err
	}
	ofDeployments := lw.Resource{Group: "apps", Version: "v1", Plural: "deployments"}
	deployments, err := follow[*appsv1.Deployment](&group, transport, ofDeployments, queue, resync)
	if err != nil {
		return err
	}
	ofServices := lw.Resource{Version: "v1", Plural: "services"}
	services, err := follow[*corev1.Service](&group, transport, ofServices, queue, resync)
	if err != nil {
		return err
	}
	byApp := cache.NewIndex(pods, func(pod *corev1.Pod, to []lw.Key) []lw.Key { return append(to, appOf(pod)) })
	reconcile := func(app lw.Key) error {
		running, wanted := 0, int32(0)
		for pod := range byApp.All(app) {
			if pod.Status.Phase == corev1.PodRunning {
				running++
			}
		}
		if deployment, ok := deployments.Get(app); ok {
			wanted = *deployment.Spec.Replicas
		}
		_, exposed := services.Get(app)
		return report(fmt.Sprintf("%s: %d of %d Pods, Service %t", app, running, wanted, exposed))
	}
	work := func(ctx context.Context) error {
		for app := range queue.Keys(ctx) {
			if err := reconcile(app); err != nil {
				queue.Retry(app)
			}
		}
		return nil
	}
	return group.Run(ctx, work, work)
}

func follow[T metav1.Object](group *cache.Group, transport lw.Transport, of lw.Resource, queue *workqueue.Queue[lw.Key],
	resync time.Duration) (*cache.Store[T], error) {
	client, err := lw.NewClient(transport, of, codec.JSON[T]{}, nil)
	if err != nil {
		return nil, err
	}
	informer := cache.NewInformer(client, nil)
	informer.Handle(cache.Handler[T]{
		Added:    func(object T, _ bool) { queue.Add(appOf(object)) },
		Modified: func(old, object T) { queue.Add(appOf(old)); queue.Add(appOf(object)) },
		Deleted:  func(object T, _ bool) { queue.Add(appOf(object)) },
	}, &cache.HandlerOptions[T]{Resync: resync})
	group.Add(of.String(), informer)
	return informer.Store(), nil
}

func appOf(object metav1.Object) lw.Key {
	return lw.Key{Namespace: object.GetNamespace(), Name: object.GetLabels()["app"]}
}
