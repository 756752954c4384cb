// Package clientgo implements a small controller with client-go. Package listwatch implements the same controller with
// listwatch.
package clientgo

import (
	"context"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

// Run reports the state of an app after each change, until ctx is done. It retries failed calls to the function report.
// It returns when all goroutines have ended.
func Run(ctx context.Context, path string, resync time.Duration, report func(string) error) error {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return err
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(clientset, resync)
	pods := factory.Core().V1().Pods().Informer()
	deployments := factory.Apps().V1().Deployments().Informer()
	services := factory.Core().V1().Services().Informer()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]())
	for _, informer := range []cache.SharedIndexInformer{pods, deployments, services} {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { queue.Add(appOf(object)) },
			UpdateFunc: func(old, object any) { queue.Add(appOf(old)); queue.Add(appOf(object)) },
			DeleteFunc: func(object any) { queue.Add(appOf(object)) },
		})
		if err != nil {
			return err
		}
	}
	err = pods.AddIndexers(cache.Indexers{"app": func(object any) ([]string, error) {
		return []string{appOf(object).String()}, nil
	}})
	if err != nil {
		return err
	}
	reconcile := func(app cache.ObjectName) error {
		running, wanted := 0, int32(0)
		found, err := pods.GetIndexer().ByIndex("app", app.String())
		if err != nil {
			return err
		}
		for _, pod := range found {
			if pod.(*corev1.Pod).Status.Phase == corev1.PodRunning {
				running++
			}
		}
		deployment, exists, err := deployments.GetStore().GetByKey(app.String())
		if err != nil {
			return err
		}
		if exists {
			wanted = *deployment.(*appsv1.Deployment).Spec.Replicas
		}
		_, exposed, err := services.GetStore().GetByKey(app.String())
		if err != nil {
			return err
		}
		return report(fmt.Sprintf("%s: %d of %d Pods, Service %t", app, running, wanted, exposed))
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() { work(queue, reconcile) })
	}
	<-ctx.Done()
	queue.ShutDown()
	workers.Wait()
	factory.Shutdown()
	return context.Cause(ctx)
}

func work(queue workqueue.TypedRateLimitingInterface[cache.ObjectName], reconcile func(cache.ObjectName) error) {
	for {
		app, quit := queue.Get()
		if quit {
			return
		}
		if err := reconcile(app); err != nil {
			queue.AddRateLimited(app)
		} else {
			queue.Forget(app)
		}
		queue.Done(app)
	}
}

func appOf(object any) cache.ObjectName {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	meta := object.(metav1.Object)
	return cache.ObjectName{Namespace: meta.GetNamespace(), Name: meta.GetLabels()["app"]}
}
