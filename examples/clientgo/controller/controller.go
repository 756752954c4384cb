// Package controller implements the controller from docs/migration.md, which creates Pods for Deployments. It uses
// listwatch for reads and client-go for writes.
package controller

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/workqueue"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
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
	deployments *cache.Store[*appsv1.Deployment]
	byOwner     *cache.Index[*corev1.Pod, types.UID]
	queue       *workqueue.Queue[lw.Key]
}

// Run runs the controller until ctx is done. It returns when all goroutines have ended.
func Run(ctx context.Context, transport lw.Transport, clientset kubernetes.Interface) error {
	opts := &lw.Options{LabelSelector: Label}
	ofDeployments := lw.Resource{Group: "apps", Version: "v1", Plural: "deployments"}
	deploymentClient, err := lw.NewClient(transport, ofDeployments, codec.JSON[*appsv1.Deployment](nil), nil)
	if err != nil {
		return err
	}
	podClient, err := lw.NewClient(transport, lw.Pods(""), codec.JSON[*corev1.Pod](nil), nil)
	if err != nil {
		return err
	}
	deployments, pods := cache.NewInformer(deploymentClient, opts), cache.NewInformer(podClient, opts)
	// The index contains UIDs instead of names, because a recreated Deployment does not own the Pods of its
	// predecessor.
	byOwner := cache.NewIndex(pods.Store(), func(pod *corev1.Pod, to []types.UID) []types.UID {
		if owner := metav1.GetControllerOf(pod); owner != nil {
			to = append(to, owner.UID)
		}
		return to
	})
	c := &controller{clientset, deployments.Store(), byOwner, workqueue.New[lw.Key]()}
	deployments.Handle(cache.Handler[*appsv1.Deployment]{
		Added:    func(deployment *appsv1.Deployment, _ bool) { c.queue.Add(lw.KeyOf(deployment)) },
		Modified: func(_, deployment *appsv1.Deployment) { c.queue.Add(lw.KeyOf(deployment)) },
	}, nil)
	pods.Handle(cache.Handler[*corev1.Pod]{
		Added:    func(pod *corev1.Pod, _ bool) { c.addOwner(pod) },
		Modified: func(old, pod *corev1.Pod) { c.addOwner(old); c.addOwner(pod) }, // the owner may have changed
		Deleted:  func(pod *corev1.Pod, _ bool) { c.addOwner(pod) },
	}, nil)
	var group cache.Group
	group.Add("deployments", deployments)
	group.Add("pods", pods)
	return group.Run(ctx, c.work, c.work)
}

// addOwner queues the Deployment that controls a Pod, because reconcile works on Deployments.
func (c *controller) addOwner(pod *corev1.Pod) {
	if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == "Deployment" {
		c.queue.Add(lw.Key{Namespace: pod.Namespace, Name: owner.Name})
	}
}

// work reconciles Deployments from the queue until ctx is done. Run starts two workers.
func (c *controller) work(ctx context.Context) error {
	for key := range c.queue.Keys(ctx) {
		if err := c.reconcile(ctx, key); err != nil {
			slog.Error("reconcile", "deployment", key, "error", err)
			c.queue.Retry(key)
		}
	}
	return nil
}

// reconcile creates missing Pods of a Deployment, deletes surplus ones, and updates the annotation. The Pods have the names
// NAME-0, NAME-1 and so on, so a retry cannot create a Pod twice.
func (c *controller) reconcile(ctx context.Context, key lw.Key) error {
	deployment, ok := c.deployments.Get(key)
	if !ok {
		return nil // the garbage collector deletes the Pods of a deleted Deployment
	}
	missing := map[string]bool{}
	for i := range *deployment.Spec.Replicas {
		missing[fmt.Sprintf("%s-%d", key.Name, i)] = true
	}
	running, pods := 0, c.clientset.CoreV1().Pods(key.Namespace)
	for _, pod := range c.byOwner.List(deployment.UID) {
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
	_, err := writer.Patch(ctx, key.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// newPod returns a Pod from the template of a Deployment, which becomes its owner.
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
