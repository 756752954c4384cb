// Package clientgo implements a controller that creates Pods for Deployments, using only client-go. Package
// listwatch implements the same controller, but uses listwatch for its reads.
package clientgo

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Label and Annotation are the names of a label and an annotation. The controller handles only Deployments with the
// label. Their Pod templates must contain the label, too, because the controller sees only Pods with the label. The
// controller writes the number of running Pods to the annotation of the Deployment.
const (
	Label      = "example.com/controller"
	Annotation = "example.com/running"
)

type controller struct {
	clientset   kubernetes.Interface
	deployments appslisters.DeploymentLister
	pods        cache.Indexer
	queue       workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

// Run runs the controller until ctx is done. It returns when all goroutines have ended.
func Run(ctx context.Context, clientset kubernetes.Interface) error {
	factory := informers.NewSharedInformerFactoryWithOptions(clientset, 0,
		informers.WithTweakListOptions(func(opts *metav1.ListOptions) { opts.LabelSelector = Label }))
	deployments, pods := factory.Apps().V1().Deployments(), factory.Core().V1().Pods()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]())
	c := &controller{clientset, deployments.Lister(), pods.Informer().GetIndexer(), queue}
	err := pods.Informer().AddIndexers(cache.Indexers{"owner": func(obj any) ([]string, error) {
		if owner := metav1.GetControllerOf(obj.(*corev1.Pod)); owner != nil {
			return []string{string(owner.UID)}, nil
		}
		return nil, nil
	}})
	if err != nil {
		return err
	}
	_, err = deployments.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { queue.Add(cache.MetaObjectToName(obj.(*appsv1.Deployment))) },
		UpdateFunc: func(_, obj any) { queue.Add(cache.MetaObjectToName(obj.(*appsv1.Deployment))) },
	})
	if err != nil {
		return err
	}
	_, err = pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.addOwner,
		UpdateFunc: func(old, obj any) { c.addOwner(old); c.addOwner(obj) },
		DeleteFunc: c.addOwner,
	})
	if err != nil {
		return err
	}
	defer factory.Shutdown()
	var workers sync.WaitGroup
	defer workers.Wait()
	defer queue.ShutDown()
	factory.StartWithContext(ctx)
	if err := factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		return err
	}
	for range 2 {
		workers.Go(func() { c.work(ctx) })
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

func (c *controller) addOwner(obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	pod := obj.(*corev1.Pod)
	if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == "Deployment" {
		c.queue.Add(cache.ObjectName{Namespace: pod.Namespace, Name: owner.Name})
	}
}

func (c *controller) work(ctx context.Context) {
	for {
		key, quit := c.queue.Get()
		if quit {
			return
		}
		if err := c.reconcile(ctx, key); err != nil {
			slog.Error("reconcile", "deployment", key, "error", err)
			c.queue.AddRateLimited(key)
		} else {
			c.queue.Forget(key)
		}
		c.queue.Done(key)
	}
}

func (c *controller) reconcile(ctx context.Context, key cache.ObjectName) error {
	deployment, err := c.deployments.Deployments(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil // the garbage collector deletes the Pods of a deleted Deployment
	} else if err != nil {
		return err
	}
	owned, err := c.pods.ByIndex("owner", string(deployment.UID))
	if err != nil {
		return err
	}
	missing := map[string]bool{}
	for i := range *deployment.Spec.Replicas {
		missing[fmt.Sprintf("%s-%d", key.Name, i)] = true
	}
	running, pods := 0, c.clientset.CoreV1().Pods(key.Namespace)
	for _, obj := range owned {
		pod := obj.(*corev1.Pod)
		if !missing[pod.Name] {
			if err := pods.Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
			continue
		}
		delete(missing, pod.Name)
		if pod.Status.Phase == corev1.PodRunning {
			running++
		}
	}
	for name := range missing {
		_, err := pods.Create(ctx, newPod(deployment, name), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) { // the Pod may exist but not be in the store yet
			return err
		}
	}
	if deployment.Annotations[Annotation] == strconv.Itoa(running) {
		return nil
	}
	writer := c.clientset.AppsV1().Deployments(key.Namespace)
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%d"}}}`, Annotation, running)
	_, err = writer.Patch(ctx, key.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

func newPod(deployment *appsv1.Deployment, name string) *corev1.Pod {
	owner := metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       deployment.Namespace,
			Name:            name,
			Labels:          deployment.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*owner},
		},
		Spec: deployment.Spec.Template.Spec,
	}
}
