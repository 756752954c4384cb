package conformance

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/seed-6d2a410a/listwatch/adapters/clientgo"
)

// accepts is an [http.RoundTripper] that records the Accept header of each request.
type accepts struct {
	mu   sync.Mutex
	next http.RoundTripper
	seen []string
}

func (a *accepts) RoundTrip(request *http.Request) (*http.Response, error) {
	a.mu.Lock()
	a.seen = append(a.seen, request.Header.Get("Accept"))
	a.mu.Unlock()
	return a.next.RoundTrip(request)
}

// TestProtobufOfAPIServer runs informers against a real API server. They must request built-in types as protobuf
// and return the same objects as client-go's informers.
func TestProtobufOfAPIServer(t *testing.T) {
	environment := &envtest.Environment{BinaryAssetsDirectory: envtestAssets(t)}
	config, err := environment.Start()
	require.NoError(t, err)
	defer func() { require.NoError(t, environment.Stop()) }()
	clientset, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	create(t, clientset, "first")

	recorded := rest.CopyConfig(config)
	headers := &accepts{}
	recorded.Wrap(func(next http.RoundTripper) http.RoundTripper { headers.next = next; return headers })
	ours, err := clientgo.NewSharedInformerFactory(recorded, 0, nil)
	require.NoError(t, err)
	dropping, err := clientgo.NewSharedInformerFactory(config, 0, &clientgo.FactoryOptions{Extras: clientgo.Extras{DropManagedFields: true}})
	require.NoError(t, err)
	theirs := informers.NewSharedInformerFactory(clientset, 0)
	all := []informers.SharedInformerFactory{ours, dropping, theirs}
	stop := make(chan struct{})
	for _, factory := range all {
		for _, informer := range informersOf(factory) {
			require.False(t, informer.HasSynced())
		}
		factory.Start(stop)
		defer factory.Shutdown()
	}
	defer close(stop)
	for _, factory := range all {
		factory.WaitForCacheSync(stop)
	}
	create(t, clientset, "second")
	for n := range informersOf(theirs) {
		for _, name := range []string{"first", "second"} {
			want := wait(t, informersOf(theirs)[n], name)
			require.NotEmpty(t, want.GetManagedFields())
			require.Equal(t, want, wait(t, informersOf(ours)[n], name))
			stripped := wait(t, informersOf(dropping)[n], name)
			require.Empty(t, stripped.GetManagedFields())
		}
	}
	headers.mu.Lock()
	defer headers.mu.Unlock()
	require.NotEmpty(t, headers.seen)
	for _, accept := range headers.seen {
		require.True(t, strings.HasPrefix(accept, "application/vnd.kubernetes.protobuf"), accept)
	}
}

func informersOf(factory informers.SharedInformerFactory) []cache.SharedIndexInformer {
	return []cache.SharedIndexInformer{factory.Core().V1().ConfigMaps().Informer(), factory.Apps().V1().Deployments().Informer()}
}

// create creates a ConfigMap and a Deployment, both called name.
func create(t *testing.T, clientset kubernetes.Interface, name string) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	meta := metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{"app": "web"}}
	_, err := clientset.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{
		ObjectMeta: meta, Data: map[string]string{"text": "x"}, BinaryData: map[string][]byte{"bytes": {0, 255}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = clientset.AppsV1().Deployments("default").Create(ctx, &appsv1.Deployment{
		ObjectMeta: meta,
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: meta.Labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: meta.Labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "web:1"}}},
			},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// wait blocks until the informer has the object called name in the namespace "default", and returns the object.
func wait(t *testing.T, informer cache.SharedIndexInformer, name string) metav1.Object {
	var found any
	require.Eventually(t, func() bool {
		object, ok, err := informer.GetStore().GetByKey(fmt.Sprint("default/", name))
		found = object
		return err == nil && ok
	}, time.Minute, 5*time.Millisecond)
	return found.(metav1.Object)
}
