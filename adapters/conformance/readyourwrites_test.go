package conformance

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
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
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

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
	// A read on a healthy watch must end long before this timeout.
	opts.NewCache, opts.NewClient = controllerruntime.NewCache, controllerruntime.ReadYourWrites{Timeout: time.Hour}.NewClient
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

// requireStale requires that err is a StaleReadError and returns it. write names the write that the cache lacks.
func requireStale(t *testing.T, err error, write string) *controllerruntime.StaleReadError {
	t.Helper()
	stale, ok := errors.AsType[*controllerruntime.StaleReadError](err)
	require.True(t, ok, "%s: %v", write, err)
	return stale
}

// TestReadYourWritesOnAPIServer holds back the events of each write. Before the events arrive, a read must end with an
// error. Afterwards, a read must show the write.
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
	c := m.GetClient()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
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
	read := func() (*corev1.ConfigMap, error) {
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
				found, err := read()
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
				_, err := read()
				require.NoError(t, err)
			}
			events.set(false)
			require.NoError(t, step.write(), step.name)
			short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
			requireStale(t, c.Get(short, key, object()), step.name)
			requireStale(t, c.List(short, &corev1.ConfigMapList{}), step.name)
			cancel()
			events.set(true)
			found, err := read()
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
	// Reads never wait for dry runs. The request for a deletion contains the dry-run option in its body.
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
	status := []byte(`{"status":{"message":"status Patch"}}`)
	for name, write := range map[string]func() error{
		"status Update": func() error {
			found.Status.Message = "status Update"
			return c.Status().Update(ctx, found)
		},
		"status Patch": func() error {
			return c.Status().Patch(ctx, pod.DeepCopy(), client.RawPatch(types.MergePatchType, status))
		},
		"status Apply": func() error {
			applied := corev1apply.Pod(key.Name, key.Namespace).WithStatus(corev1apply.PodStatus().WithMessage("status Apply"))
			return c.Status().Apply(ctx, applied, owner, client.ForceOwnership)
		},
	} {
		events.set(false)
		require.NoError(t, write(), name)
		// Without a short deadline, the reads end after five seconds, because the watch is healthy.
		require.NoError(t, requireStale(t, c.Get(ctx, key, &corev1.Pod{}), name).Err)
		require.NoError(t, requireStale(t, c.List(ctx, &corev1.PodList{}), name).Err)
		events.set(true)
		require.NoError(t, c.Get(ctx, key, found))
		require.Equal(t, name, found.Status.Message)
	}
	require.NoError(t, c.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{}))
	if err := c.Get(ctx, key, found); !apierrors.IsNotFound(err) {
		require.NoError(t, err)
		require.NotNil(t, found.DeletionTimestamp)
	}
	require.ErrorIs(t, c.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace("default")), controllerruntime.ErrDeleteAllOf)
}

// program is a manager with one controller. The controller sends the name of each ConfigMap that it reconciles to the
// channel reconciled.
type program struct {
	manager.Manager
	reconciled chan string
}

func newProgram(t *testing.T, config *rest.Config, opts manager.Options) *program {
	p := &program{newManager(t, config, opts), make(chan string, 100)}
	work := reconcile.Func(func(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
		p.reconciled <- request.Name
		return reconcile.Result{}, nil
	})
	require.NoError(t, ctrl.NewControllerManagedBy(p).For(&corev1.ConfigMap{}).Complete(work))
	return p
}

// reconciles waits until the controller has reconciled the named ConfigMaps.
func (p *program) reconciles(t *testing.T, names ...string) {
	t.Helper()
	for left := names; len(left) > 0; {
		name := receive(t, p.reconciled)
		left = slices.DeleteFunc(left, func(n string) bool { return n == name })
	}
}

// receive receives from a channel. It fails the test after a minute.
func receive[T any](t *testing.T, from <-chan T) (received T) {
	t.Helper()
	select {
	case received = <-from:
	case <-time.After(time.Minute):
		t.Fatal("timeout")
	}
	return received
}

// TestLeaderElection runs a program that wins a leader election, loses it to a second program, restarts and wins it
// again. Each program must read while it waits, and reconcile only while it is the leader.
func TestLeaderElection(t *testing.T) {
	environment := &envtest.Environment{BinaryAssetsDirectory: envtestAssets(t)}
	config, err := environment.Start()
	require.NoError(t, err)
	defer func() { require.NoError(t, environment.Stop()) }()
	lease, deadline, retry := 3*time.Second, 2*time.Second, 200*time.Millisecond
	opts := manager.Options{
		LeaderElection: true, LeaderElectionID: "test", LeaderElectionNamespace: "default", LeaseDuration: &lease, RenewDeadline: &deadline, RetryPeriod: &retry,
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)}, // all programs run in this process
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	object := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	}
	read := func(p *program, name string) error {
		return p.GetClient().Get(ctx, client.ObjectKeyFromObject(object(name)), object(name))
	}
	// create writes and reads the ConfigMap with a program's client, after a first read has started the informer.
	create := func(p *program, name string) {
		t.Helper()
		require.True(t, p.GetCache().WaitForCacheSync(ctx))
		require.True(t, apierrors.IsNotFound(read(p, name)))
		require.NoError(t, p.GetClient().Create(ctx, object(name)))
		require.NoError(t, read(p, name))
	}

	first := newProgram(t, config, opts)
	lost, _ := runManager(t, first)
	receive(t, first.Elected())
	create(first, "by-first")
	first.reconciles(t, "by-first")
	second := newProgram(t, config, opts)
	ended, stop := runManager(t, second)
	create(second, "by-second")
	first.reconciles(t, "by-second")
	require.Empty(t, second.reconciled, "only the leader may work")

	thief, err := client.New(config, client.Options{})
	require.NoError(t, err)
	require.Eventually(t, func() bool { // repeats after a conflict with the leader
		held := &coordinationv1.Lease{}
		require.NoError(t, thief.Get(ctx, client.ObjectKey{Namespace: "default", Name: "test"}, held))
		held.Spec.HolderIdentity, held.Spec.LeaseDurationSeconds = new("thief"), new(int32(3))
		err := thief.Update(ctx, held)
		return err == nil
	}, time.Minute, time.Millisecond)
	require.ErrorContains(t, receive(t, lost), "leader election lost")
	require.NoError(t, first.GetClient().Create(ctx, object("late")))
	require.True(t, apierrors.IsNotFound(read(first, "late")), "a read from a stopped cache must not wait")
	receive(t, second.Elected())
	second.reconciles(t, "by-first", "by-second", "late")
	require.NoError(t, second.GetClient().Delete(ctx, object("by-first")))
	require.True(t, apierrors.IsNotFound(read(second, "by-first")))

	again := newProgram(t, config, opts)
	endedAgain, stopAgain := runManager(t, again)
	create(again, "by-again")
	second.reconciles(t, "by-again")
	require.Empty(t, again.reconciled, "only the leader may work")
	stop()
	require.NoError(t, receive(t, ended))
	require.NoError(t, thief.Delete(ctx, object("by-second")))
	receive(t, again.Elected())
	again.reconciles(t, "late", "by-again")
	require.Eventually(t, func() bool { return apierrors.IsNotFound(read(again, "by-second")) }, time.Minute, time.Millisecond)
	require.NoError(t, again.GetClient().Delete(ctx, object("late")))
	require.True(t, apierrors.IsNotFound(read(again, "late")))
	stopAgain()
	require.NoError(t, receive(t, endedAgain))
}
