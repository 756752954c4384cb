// Package clientgo tests controller/clientgo with client-go's fake clientset, which cannot simulate an outage
// because it has no connections and no history. Package listwatch tests controller/listwatch with lwtest.
package clientgo

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/seed-6d2a410a/listwatch/examples/clientgo/controller/clientgo"
)

// start runs the controller until the test ends.
func start(t *testing.T, clientset *fake.Clientset) {
	ended := make(chan error)
	go func() { ended <- clientgo.Run(t.Context(), clientset) }()
	t.Cleanup(func() { require.ErrorIs(t, <-ended, context.Canceled) })
}

var labels = map[string]string{"example.com/controller": "on"}

func deployment(name string, labels map[string]string, replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels, UID: "1"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}},
		},
	}
}

// requirePods waits until the clientset has exactly the given Pods.
func requirePods(t *testing.T, clientset *fake.Clientset, names ...string) {
	t.Helper()
	require.Eventually(t, func() bool {
		pods, err := clientset.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return false
		}
		var found []string
		for _, pod := range pods.Items {
			found = append(found, pod.Namespace+"/"+pod.Name)
		}
		slices.Sort(found)
		return slices.Equal(found, names)
	}, 30*time.Second, time.Millisecond)
}

func TestCreatesAndDeletesPods(t *testing.T) {
	clientset := fake.NewClientset(deployment("web", labels, 2))
	start(t, clientset)
	requirePods(t, clientset, "default/web-0", "default/web-1")
	deployments := clientset.AppsV1().Deployments("default")
	_, err := deployments.Update(t.Context(), deployment("web", labels, 1), metav1.UpdateOptions{})
	require.NoError(t, err)
	requirePods(t, clientset, "default/web-0")
}

// Both Deployments must exist before the list, because the fake clientset ignores the label selector of a watch.
func TestIgnoresDeploymentsWithoutTheLabel(t *testing.T) {
	clientset := fake.NewClientset(deployment("other", nil, 1), deployment("web", labels, 1))
	start(t, clientset)
	requirePods(t, clientset, "default/web-0")
}

func TestRetriesRejectedPatch(t *testing.T) {
	clientset := fake.NewClientset(deployment("web", labels, 1))
	patches := make(chan struct{}, 3)
	clientset.PrependReactor("patch", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		patches <- struct{}{}
		rejected := len(patches) < 3
		return rejected, nil, apierrors.NewConflict(appsv1.Resource("deployments"), "web", nil)
	})
	start(t, clientset)
	require.Eventually(t, func() bool { return len(patches) == 3 }, 30*time.Second, time.Millisecond)
}
