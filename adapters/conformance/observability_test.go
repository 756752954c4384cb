package conformance

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/metrics"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/seed-6d2a410a/listwatch/adapters/clientgo"
)

// observed is a program that uses one library's informers. It implements [logr.LogSink] and collects its own log
// lines.
type observed struct {
	name, host                string
	secrets, configs, widgets cache.SharedIndexInformer
	follow                    func() cache.SharedIndexInformer // returns a new informer for ConfigMaps

	mu          sync.Mutex
	lines       map[string]bool
	connections []net.Conn
}

// dial opens a connection that cut can close later.
func (o *observed) dial(ctx context.Context, network, address string) (net.Conn, error) {
	made, err := (&net.Dialer{}).DialContext(ctx, network, address)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil {
		o.connections = append(o.connections, made)
	}
	return made, err
}

// cut closes all the program's connections.
func (o *observed) cut() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, connection := range o.connections {
		_ = connection.Close()
	}
	o.connections = nil
}

func (o *observed) Init(logr.RuntimeInfo)          {}
func (o *observed) Enabled(level int) bool         { return level == 0 }
func (o *observed) WithValues(...any) logr.LogSink { return o }
func (o *observed) WithName(string) logr.LogSink   { return o }

func (o *observed) Info(_ int, message string, about ...any) { o.add("info", message, nil, about) }

func (o *observed) Error(err error, message string, about ...any) {
	o.add("error", message, err, about)
}

// add adds a line in a form that can be compared: the level, the message, the objects' type and the reason for the
// error.
func (o *observed) add(level, message string, err error, about []any) {
	var objects any
	for n := 0; n+1 < len(about); n += 2 {
		switch value, failure := about[n+1].(error); {
		case about[n] == "type":
			objects = about[n+1]
		case failure && err == nil:
			err = value
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines[fmt.Sprint(level, ": ", message, ": ", objects, ": ", apierrors.ReasonForError(err))] = true
}

func (o *observed) all() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Sorted(maps.Keys(o.lines))
}

func (o *observed) logged(line string) bool { return slices.Contains(o.all(), line) }

// codes is a [metrics.ResultMetric]. It can tell the two programs apart, because they use different host names for the
// server.
type codes struct {
	mu     sync.Mutex
	byHost map[string]map[string]bool
}

func (c *codes) Increment(_ context.Context, code, method, host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byHost[host] == nil {
		c.byHost[host] = map[string]bool{}
	}
	c.byHost[host][method+" "+code] = true
}

func (c *codes) of(host string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.byHost[host]))
}

var (
	crds    = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
)

// TestObservability runs one program with client-go's informers and one with this module's against a real API
// server with RBAC. Their logs and their request metrics must agree line by line, except for the differences listed
// here.
func TestObservability(t *testing.T) {
	environment := &envtest.Environment{BinaryAssetsDirectory: envtestAssets(t)}
	config, err := environment.Start()
	require.NoError(t, err)
	defer func() { require.NoError(t, environment.Stop()) }()
	counted := &codes{byHost: map[string]map[string]bool{}}
	before := metrics.RequestResult // set by controller-runtime, which has called metrics.Register
	metrics.RequestResult = counted
	defer func() { metrics.RequestResult = before }()
	s := scene{t, kubernetes.NewForConfigOrDie(config), dynamic.NewForConfigOrDie(config)}
	s.define("Namespaced")
	s.namespace()
	s.grant("widgets", rbacv1.PolicyRule{APIGroups: []string{"example.com"}, Resources: []string{"widgets"}, Verbs: []string{"list", "watch"}})

	user, err := environment.AddUser(envtest.User{Name: "operator"}, nil)
	require.NoError(t, err)
	stock, ours := programs(t, user.Config())
	both := []*observed{stock, ours}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	for _, o := range both {
		for _, informer := range []cache.SharedIndexInformer{o.secrets, o.configs, o.widgets} {
			running.Go(func() { informer.RunWithContext(klog.NewContext(ctx, logr.New(o))) })
		}
	}
	each := func(what string, condition func(*observed) bool) {
		t.Helper()
		for _, o := range both {
			require.Eventually(t, func() bool { return condition(o) }, 3*time.Minute, 20*time.Millisecond, "%s: %s", o.name, what)
		}
	}
	keys := func(informer cache.SharedIndexInformer) string {
		listed := informer.GetStore().ListKeys()
		slices.Sort(listed)
		return strings.Join(listed, " ")
	}

	const forbidden = "error: Failed to watch: *v1.Secret: Forbidden"
	each("the user may not list Secrets", func(o *observed) bool { return o.logged(forbidden) && o.configs.HasSynced() && o.widgets.HasSynced() })
	s.grant("secrets", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list", "watch"}})
	each("the user may list Secrets", func(o *observed) bool { return o.secrets.HasSynced() })

	each("the first ConfigMap exists", func(o *observed) bool { return keys(o.configs) == "shop/first" })
	s.removeNamespace()
	each("the namespace is deleted", func(o *observed) bool { return keys(o.configs) == "" })
	s.namespace()
	each("the namespace is recreated", func(o *observed) bool { return keys(o.configs) == "shop/first" })

	s.undefine()
	const missing = "error: Failed to watch: example.com/v1, Resource=widgets: NotFound"
	for _, o := range both {
		o.cut() // the server would keep watches on the old collection open
	}
	each("the CRD is deleted", func(o *observed) bool { return o.logged(missing) })
	s.define("Cluster")
	_, err = s.dynamic.Resource(widgets).Create(t.Context(), widget(), metav1.CreateOptions{})
	require.NoError(t, err)
	each("the CRD is recreated with another scope", func(o *observed) bool { return keys(o.widgets) == "w" })

	for _, o := range both {
		s.elect(o)
	}

	require.Equal(t, []string{forbidden, missing}, errorsOf(stock))
	require.Equal(t, errorsOf(stock), errorsOf(ours))
	// The server may answer 429 while it removes a collection. The administrator uses the same host name as
	// client-go's program, so its codes are a superset.
	got := slices.DeleteFunc(counted.of(ours.host), func(code string) bool { return code == "GET 429" })
	require.Equal(t, []string{"GET 200", "GET 403", "GET 404"}, got)
	require.Subset(t, counted.of(stock.host), got)
	t.Logf("client-go:\n%s\nlistwatch:\n%s", strings.Join(stock.all(), "\n"), strings.Join(ours.all(), "\n"))
	// Unlike client-go, this module logs the collection, the cause and the next request for each kind of failure.
	for _, line := range information(stock) {
		require.Contains(t, line, "info: Warning: watch ended with error: ")
	}
	for _, line := range information(ours) {
		require.Contains(t, line, "info: The list or watch was interrupted: ")
	}
}

func errorsOf(o *observed) []string {
	return slices.DeleteFunc(o.all(), func(line string) bool { return !strings.HasPrefix(line, "error: ") })
}

func information(o *observed) []string {
	return slices.DeleteFunc(o.all(), func(line string) bool { return strings.HasPrefix(line, "error: ") })
}

// programs returns two programs: one with client-go's informers and one with this module's.
func programs(t *testing.T, config *rest.Config) (stock, ours *observed) {
	port := strings.TrimRight(config.Host[strings.LastIndex(config.Host, ":"):], "/")
	stock = &observed{name: "client-go", host: "127.0.0.1" + port, lines: map[string]bool{}}
	ours = &observed{name: "listwatch", host: "localhost" + port, lines: map[string]bool{}}
	for _, o := range []*observed{stock, ours} {
		own := rest.CopyConfig(config)
		own.Dial = o.dial
		own.Host, own.ContentType = "https://"+o.host, runtime.ContentTypeProtobuf
		factories := func() (typed, shop informers.SharedInformerFactory, custom dynamicinformer.DynamicSharedInformerFactory) {
			if o == stock {
				clientset := kubernetes.NewForConfigOrDie(own)
				return informers.NewSharedInformerFactory(clientset, 0), informers.NewSharedInformerFactoryWithOptions(clientset, 0, informers.WithNamespace("shop")),
					dynamicinformer.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(own), 0)
			}
			typed, err := clientgo.NewSharedInformerFactory(own, 0, nil)
			require.NoError(t, err)
			shop, err = clientgo.NewSharedInformerFactory(own, 0, &clientgo.FactoryOptions{Namespace: "shop"})
			require.NoError(t, err)
			custom, err = clientgo.NewDynamicSharedInformerFactory(own, 0, nil)
			require.NoError(t, err)
			return typed, shop, custom
		}
		typed, shop, custom := factories()
		o.secrets, o.configs, o.widgets = typed.Core().V1().Secrets().Informer(), shop.Core().V1().ConfigMaps().Informer(), custom.ForResource(widgets).Informer()
		o.follow = func() cache.SharedIndexInformer {
			_, again, _ := factories()
			return again.Core().V1().ConfigMaps().Informer()
		}
	}
	return stock, ours
}

// scene changes the cluster as an administrator would.
type scene struct {
	*testing.T
	client  kubernetes.Interface
	dynamic dynamic.Interface
}

// grant allows the operator to list and watch more collections.
func (s scene) grant(name string, rule rbacv1.PolicyRule) {
	_, err := s.client.RbacV1().ClusterRoles().Create(s.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{rule}}, metav1.CreateOptions{})
	require.NoError(s, err)
	_, err = s.client.RbacV1().ClusterRoleBindings().Create(s.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{Kind: "User", Name: "operator"}},
	}, metav1.CreateOptions{})
	require.NoError(s, err)
}

// namespace creates the namespace and a ConfigMap that the operator may read.
func (s scene) namespace() {
	_, err := s.client.CoreV1().Namespaces().Create(s.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, metav1.CreateOptions{})
	require.NoError(s, err)
	meta := metav1.ObjectMeta{Name: "first", Namespace: "shop"}
	rule := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}}
	_, err = s.client.RbacV1().Roles("shop").Create(s.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{rule}}, metav1.CreateOptions{})
	require.NoError(s, err)
	_, err = s.client.RbacV1().RoleBindings("shop").Create(s.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: "first"},
		Subjects: []rbacv1.Subject{{Kind: "User", Name: "operator"}},
	}, metav1.CreateOptions{})
	require.NoError(s, err)
	_, err = s.client.CoreV1().ConfigMaps("shop").Create(s.Context(), &corev1.ConfigMap{ObjectMeta: meta}, metav1.CreateOptions{})
	require.NoError(s, err)
}

// removeNamespace does the namespace controller's work, because that controller does not run here.
func (s scene) removeNamespace() {
	now := metav1.DeleteOptions{}
	require.NoError(s, s.client.CoreV1().Namespaces().Delete(s.Context(), "shop", now))
	require.NoError(s, s.client.CoreV1().ConfigMaps("shop").Delete(s.Context(), "first", now))
	require.NoError(s, s.client.RbacV1().RoleBindings("shop").Delete(s.Context(), "first", now))
	require.NoError(s, s.client.RbacV1().Roles("shop").Delete(s.Context(), "first", now))
	terminating, err := s.client.CoreV1().Namespaces().Get(s.Context(), "shop", metav1.GetOptions{})
	require.NoError(s, err)
	terminating.Spec.Finalizers = nil
	_, err = s.client.CoreV1().Namespaces().Finalize(s.Context(), terminating, metav1.UpdateOptions{})
	require.NoError(s, err)
	s.eventually(func() bool {
		_, err := s.client.CoreV1().Namespaces().Get(s.Context(), "shop", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func (s scene) eventually(condition func() bool) {
	s.Helper()
	require.Eventually(s, condition, 2*time.Minute, 20*time.Millisecond)
}

// define creates the CRD and waits until the server serves it.
func (s scene) define(scope string) {
	_, err := s.dynamic.Resource(crds).Create(s.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "widgets.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": scope, "names": map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}},
		},
	}}, metav1.CreateOptions{})
	require.NoError(s, err)
	s.eventually(func() bool {
		_, err := s.dynamic.Resource(widgets).List(s.Context(), metav1.ListOptions{})
		return err == nil
	})
}

func (s scene) undefine() {
	require.NoError(s, s.dynamic.Resource(crds).Delete(s.Context(), "widgets.example.com", metav1.DeleteOptions{}))
	s.eventually(func() bool {
		_, err := s.dynamic.Resource(widgets).List(s.Context(), metav1.ListOptions{})
		return apierrors.IsNotFound(err)
	})
}

func widget() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"}}}
}

// elect makes a program win a leader election, lose the Lease to another holder, and win it again. The program
// follows ConfigMaps while it is the leader.
func (s scene) elect(o *observed) {
	terms := make(chan cache.SharedIndexInformer, 10)
	lost := make(chan struct{}, 10)
	lock := &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Name: o.name, Namespace: "default"}, Client: s.client.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: o.name},
	}
	ctx, stop := context.WithCancel(klog.NewContext(s.Context(), logr.Discard()))
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			var leading sync.WaitGroup
			leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
				Lock: lock, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 200 * time.Millisecond,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStartedLeading: func(ctx context.Context) {
						informer := o.follow()
						leading.Go(func() { informer.RunWithContext(klog.NewContext(ctx, logr.New(o))) })
						terms <- informer
					},
					OnStoppedLeading: func() { lost <- struct{}{} },
				},
			})
			leading.Wait()
		}
	})
	defer running.Wait()
	defer stop()
	first := <-terms
	s.eventually(first.HasSynced)
	leases := s.client.CoordinationV1().Leases("default")
	s.eventually(func() bool { // another holder takes the Lease between two renewals
		lease, err := leases.Get(s.Context(), o.name, metav1.GetOptions{})
		require.NoError(s, err)
		other := "other"
		lease.Spec.HolderIdentity = &other
		now := metav1.NowMicro()
		lease.Spec.RenewTime = &now
		_, err = leases.Update(s.Context(), lease, metav1.UpdateOptions{})
		return err == nil
	})
	<-lost
	s.eventually(first.IsStopped)
	s.eventually((<-terms).HasSynced)
}
