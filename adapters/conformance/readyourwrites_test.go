package conformance

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/seed-6d2a410a/listwatch/adapters/controllerruntime"
)

// gate is an [http.RoundTripper] that holds back the events of all watches while it is closed.
type gate struct {
	next http.RoundTripper

	mu   sync.Mutex
	open chan struct{} // closed while the gate is open
}

func (g *gate) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := g.next.RoundTrip(request)
	if err == nil && request.URL.Query().Has("watch") {
		response.Body = &gated{response.Body, g, request.Context()}
	}
	return response, err
}

func (g *gate) set(open bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if open {
		close(g.open)
	} else {
		g.open = make(chan struct{})
	}
}

func (g *gate) opened() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open
}

// gated is the body of a watch.
type gated struct {
	io.ReadCloser
	gate *gate
	ctx  context.Context
}

func (b *gated) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	select {
	case <-b.gate.opened():
	case <-b.ctx.Done():
	}
	return n, err
}

func newManager(t *testing.T, config *rest.Config, opts manager.Options) manager.Manager {
	opts.NewCache, opts.NewClient = controllerruntime.NewCache, controllerruntime.ReadYourWrites{}.NewClient
	opts.Metrics, opts.HealthProbeBindAddress, opts.Logger = metricsserver.Options{BindAddress: "0"}, "0", logr.Discard()
	m, err := ctrl.NewManager(config, opts)
	require.NoError(t, err)
	return m
}

// runManager runs a manager until stop is called. ended receives its result.
func runManager(t *testing.T, m manager.Manager) (ended <-chan error, stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- m.Start(ctx) }()
	return result, cancel
}

// TestReadYourWritesOnAPIServer holds back the events of each write. A read must then end with an error, and show the
// write once the events have arrived.
func TestReadYourWritesOnAPIServer(t *testing.T) {
	environment := &envtest.Environment{BinaryAssetsDirectory: envtestAssets(t)}
	config, err := environment.Start()
	require.NoError(t, err)
	defer func() { require.NoError(t, environment.Stop()) }()
	events := &gate{open: make(chan struct{})}
	close(events.open)
	gatedConfig := rest.CopyConfig(config)
	gatedConfig.Wrap(func(next http.RoundTripper) http.RoundTripper { events.next = next; return events })
	m := newManager(t, gatedConfig, manager.Options{})
	ended, stop := runManager(t, m)
	defer func() {
		stop()
		require.NoError(t, <-ended)
	}()
	require.True(t, m.GetCache().WaitForCacheSync(t.Context()))
	c, ctx := m.GetClient(), t.Context()
	key := client.ObjectKey{Namespace: "default", Name: "a"}
	object := func() *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
	}
	partial := func() *metav1.PartialObjectMetadata {
		partial := &metav1.PartialObjectMetadata{}
		partial.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		return partial
	}
	for _, example := range []client.Object{object(), partial(), pod.DeepCopy()} {
		require.True(t, apierrors.IsNotFound(c.Get(ctx, key, example)), "starts the informer")
	}
	read := func(ctx context.Context) (*corev1.ConfigMap, error) {
		found := object()
		return found, c.Get(ctx, key, found)
	}
	data := func(want string) func(*corev1.ConfigMap, error) bool {
		return func(found *corev1.ConfigMap, err error) bool { return err == nil && found.Data["k"] == want }
	}
	gone := func(_ *corev1.ConfigMap, err error) bool { return apierrors.IsNotFound(err) }
	finalizers := func(text string) func() error {
		return func() error {
			return c.Patch(ctx, object(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":`+text+`}}`)))
		}
	}
	owner := client.FieldOwner("test")
	unstructuredApply := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": key.Name, "namespace": key.Namespace}, "data": map[string]any{"k": "applied again"},
	}}
	for range 2 { // the second round recreates the object
		for _, step := range []struct {
			name  string
			write func() error
			shows func(*corev1.ConfigMap, error) bool
		}{
			{"Apply creates", func() error {
				return c.Apply(ctx, corev1apply.ConfigMap(key.Name, key.Namespace).WithData(map[string]string{"k": "applied"}), owner)
			}, data("applied")},
			{"unstructured Apply", func() error {
				return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(unstructuredApply.DeepCopy()), owner)
			}, data("applied again")},
			{"Update", func() error {
				found, err := read(ctx)
				if err != nil {
					return err
				}
				found.Data["k"] = "updated"
				return c.Update(ctx, found)
			}, data("updated")},
			{"Patch adds a finalizer", finalizers(`["example.com/keep"]`), func(found *corev1.ConfigMap, err error) bool {
				return err == nil && len(found.Finalizers) == 1
			}},
			{"Delete with a finalizer", func() error { return c.Delete(ctx, object()) }, func(found *corev1.ConfigMap, err error) bool {
				return err == nil && found.DeletionTimestamp != nil
			}},
			{"removal of the finalizer deletes", finalizers("null"), gone},
			{"Create", func() error { return c.Create(ctx, object()) }, func(_ *corev1.ConfigMap, err error) bool { return err == nil }},
			{"Delete", func() error { return c.Delete(ctx, object()) }, gone},
		} {
			if step.name == "Update" { // reads the object first, while events still arrive
				_, err := read(ctx)
				require.NoError(t, err)
			}
			events.set(false)
			require.NoError(t, step.write(), step.name)
			short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
			_, err := read(short)
			cancel()
			_, stale := errors.AsType[*controllerruntime.StaleReadError](err)
			require.True(t, stale, "%s: %v", step.name, err)
			events.set(true)
			found, err := read(ctx)
			require.True(t, step.shows(found, err), "%s: %v %v", step.name, found, err)
			list, want := &corev1.ConfigMapList{}, 0
			require.NoError(t, c.List(ctx, list, client.InNamespace(key.Namespace)))
			for _, item := range list.Items {
				if item.Name == key.Name {
					want++
					require.Equal(t, found.ResourceVersion, item.ResourceVersion)
				}
			}
			require.Equal(t, err == nil, want == 1, step.name)
			other := partial()
			otherErr := c.Get(ctx, key, other)
			require.Equal(t, err == nil, otherErr == nil, "%s: %v", step.name, otherErr)
		}
	}
	// Dry runs never wait, even those of deletions, which say so in the body.
	require.NoError(t, c.Create(ctx, pod))
	found := &corev1.Pod{}
	require.NoError(t, c.Get(ctx, key, found))
	events.set(false)
	require.NoError(t, c.Delete(ctx, pod.DeepCopy(), client.DryRunAll))
	require.NoError(t, c.Patch(ctx, pod.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"k":"v"}}}`)), client.DryRunAll))
	require.NoError(t, c.Get(ctx, key, found))
	require.Empty(t, found.Labels)
	events.set(true)
	// The responses about Pods are protobuf.
	found.Status.Message = "written"
	require.NoError(t, c.Status().Update(ctx, found))
	require.NoError(t, c.Get(ctx, key, found))
	require.Equal(t, "written", found.Status.Message)
	require.NoError(t, c.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{}))
	if err := c.Get(ctx, key, found); !apierrors.IsNotFound(err) {
		require.NoError(t, err)
		require.NotNil(t, found.DeletionTimestamp)
	}
	require.ErrorIs(t, c.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace("default")), controllerruntime.ErrDeleteAllOf)
}

// leading is a runnable that needs leader election. started is closed when it starts.
type leading struct{ started chan struct{} }

func (l *leading) Start(ctx context.Context) error {
	close(l.started)
	<-ctx.Done()
	return nil
}

// TestLeaderElection runs two managers. The second one must read while it waits, and start its work when the first one
// has lost the lease.
func TestLeaderElection(t *testing.T) {
	environment := &envtest.Environment{BinaryAssetsDirectory: envtestAssets(t)}
	config, err := environment.Start()
	require.NoError(t, err)
	defer func() { require.NoError(t, environment.Stop()) }()
	lease, deadline, retry := 3*time.Second, 2*time.Second, 200*time.Millisecond
	opts := manager.Options{
		LeaderElection: true, LeaderElectionID: "test", LeaderElectionNamespace: "default", LeaseDuration: &lease, RenewDeadline: &deadline, RetryPeriod: &retry,
	}
	first, second := newManager(t, config, opts), newManager(t, config, opts)
	works := map[manager.Manager]*leading{}
	for _, m := range []manager.Manager{first, second} {
		works[m] = &leading{make(chan struct{})}
		require.NoError(t, m.Add(works[m]))
	}
	await := func(event <-chan struct{}, what string) {
		t.Helper()
		select {
		case <-event:
		case <-time.After(time.Minute):
			t.Fatal(what)
		}
	}
	lost, _ := runManager(t, first)
	await(first.Elected(), "the first manager did not win the election")
	await(works[first].started, "the first manager did not start its work")
	ended, stop := runManager(t, second)
	require.True(t, second.GetCache().WaitForCacheSync(t.Context()))
	for name, c := range map[string]client.Client{"first": first.GetClient(), "second": second.GetClient()} {
		require.NoError(t, client.IgnoreNotFound(c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, &corev1.ConfigMap{})))
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		require.NoError(t, c.Create(t.Context(), object))
		require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(object), object), "a manager must read, even if it waits for the lease")
	}
	select {
	case <-works[second].started:
		t.Fatal("only the leader may work")
	default:
	}

	thief, err := client.New(config, client.Options{})
	require.NoError(t, err)
	require.Eventually(t, func() bool { // repeats after a conflict with the leader
		held := &coordinationv1.Lease{}
		require.NoError(t, thief.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "test"}, held))
		held.Spec.HolderIdentity, held.Spec.LeaseDurationSeconds = new("thief"), new(int32(3))
		err := thief.Update(t.Context(), held)
		return err == nil
	}, time.Minute, time.Millisecond)
	select {
	case err := <-lost:
		require.ErrorContains(t, err, "leader election lost")
	case <-time.After(time.Minute):
		t.Fatal("the first manager did not notice that it has lost the lease")
	}
	last := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "last"}}
	require.NoError(t, first.GetClient().Create(t.Context(), last))
	require.True(t, apierrors.IsNotFound(first.GetClient().Get(t.Context(), client.ObjectKeyFromObject(last), last)), "a read from a stopped cache must not wait")
	await(second.Elected(), "the second manager did not win the election")
	await(works[second].started, "the second manager did not start its work")
	object := &corev1.ConfigMap{}
	require.NoError(t, second.GetClient().Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "first"}, object))
	require.NoError(t, second.GetClient().Delete(t.Context(), object))
	require.True(t, apierrors.IsNotFound(second.GetClient().Get(t.Context(), client.ObjectKeyFromObject(object), object)))
	stop()
	require.NoError(t, <-ended)
}
