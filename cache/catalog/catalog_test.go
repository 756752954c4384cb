package catalog_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache/catalog"
	"github.com/seed-6d2a410a/listwatch/cache/compact"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// pipes is an in-memory network. Tests need it for simulated time, which stops while a goroutine waits for a real network.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { close(p.done); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func start(t *testing.T, opts *catalog.Options) (*lwtest.Server, *catalog.Catalog) {
	network := &pipes{make(chan net.Conn), make(chan struct{})}
	server, err := lwtest.Start(&lwtest.Options{Listener: network})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	networks.Store(server, network)
	return server, catalog.New(transportTo(t, server), opts)
}

var networks sync.Map // maps a *lwtest.Server to its *pipes

func transportTo(t *testing.T, server *lwtest.Server) lw.Transport {
	dial := func(ctx context.Context, protocol, address string) (net.Conn, error) {
		network, _ := networks.Load(server) // not earlier, because rebuild changes it
		return network.(*pipes).dial(ctx, protocol, address)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial}}
	t.Cleanup(client.CloseIdleConnections)
	transport, err := lwhttp.New(server.URL, &lwhttp.Options{Client: client})
	require.NoError(t, err)
	return transport
}

// rebuild replaces a server by another one at the same address, as if the cluster had been rebuilt. prepare is called
// before the other server can be reached.
func rebuild(t *testing.T, server *lwtest.Server, prepare func(*lwtest.Server)) (replacement *lwtest.Server) {
	network := &pipes{make(chan net.Conn), make(chan struct{})}
	replacement, err := lwtest.Start(&lwtest.Options{Listener: network})
	require.NoError(t, err)
	t.Cleanup(replacement.Close)
	prepare(replacement)
	networks.Store(server, network)
	server.Close()
	return replacement
}

func statusOf(c *catalog.Catalog, of catalog.Type) catalog.Status {
	for _, status := range c.Statuses() {
		if status.Type == of {
			return status
		}
	}
	return catalog.Status{}
}

// bed is a running catalog and its server.
type bed struct {
	*testing.T
	*catalog.Catalog
	server *lwtest.Server
	ctx    context.Context
	stop   func()
}

func stateAndSize(status catalog.Status) string { return fmt.Sprint(status.State, " ", status.Objects) }

// run runs a test with a catalog in simulated time. prepare is called before the catalog starts.
func run(t *testing.T, opts *catalog.Options, prepare func(*lwtest.Server), test func(*bed)) {
	synctest.Test(t, func(t *testing.T) {
		server, c := start(t, opts)
		if prepare != nil {
			prepare(server)
		}
		ctx, stop := context.WithCancel(t.Context())
		b := &bed{t, c, server, ctx, stop}
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		defer func() {
			stop()
			require.ErrorIs(t, <-done, context.Canceled)
		}()
		test(b)
	})
}

var pods, gadgets = catalog.Type{Resource: "pods"}, catalog.Type{Group: "example.com", Resource: "gadgets"}

const definitions = "customresourcedefinitions.apiextensions.k8s.io"

// addType adds a custom type with a name such as "gadgets.example.com", or changes its version.
func addType(server *lwtest.Server, name, version, kind string) {
	if _, err := server.Put(definitions, sample.Definition(name, version, kind, "")); err != nil {
		panic(err)
	}
}

func addGadgets(server *lwtest.Server) { addType(server, gadgets.String(), "v1", "Gadget") }

// addGadget adds a custom type and an object, so that the first list contains the object.
func addGadget(server *lwtest.Server) {
	addGadgets(server)
	if _, err := server.Put(gadgets.String(), `{"metadata":{"namespace":"shop","name":"a"}}`); err != nil {
		panic(err)
	}
}

func put(t require.TestingT, server *lwtest.Server, resource, namespace, name string, owners ...*lw.Object) *lw.Object {
	metadata := map[string]any{"namespace": namespace, "name": name, "labels": map[string]string{"app": name}}
	var references []any
	for _, owner := range owners {
		references = append(references, map[string]any{"apiVersion": owner.APIVersion(), "kind": owner.Kind(), "name": owner.GetName(), "uid": owner.GetUID()})
	}
	if references != nil {
		metadata["ownerReferences"] = references
	}
	object, err := server.Put(resource, map[string]any{"metadata": metadata})
	require.NoError(t, err)
	return object
}

// after waits for a time on the simulated clock, and returns the status of a type.
func (b *bed) after(d time.Duration, of catalog.Type) catalog.Status {
	time.Sleep(d)
	synctest.Wait()
	for _, status := range b.Statuses() {
		if status.Type == of {
			return status
		}
	}
	return catalog.Status{TypeInfo: catalog.TypeInfo{Type: of}}
}

// follow collects the changes of one type.
func (b *bed) follow(of catalog.Type) *[]string {
	changes := new([]string)
	ready := make(chan struct{})
	go func() {
		close(ready)
		for change := range b.Changes(b.ctx, nil) {
			if change.Resource != of {
				continue
			}
			text := change.Type.String()
			for _, object := range []*lw.Object{change.Old, change.New} {
				if object != nil {
					text += " " + object.APIVersion() + " " + lw.KeyOf(object).String()
				}
			}
			*changes = append(*changes, text)
		}
	}()
	<-ready
	return changes
}

func TestDeletedTypeReturnsInAnotherVersion(t *testing.T) {
	run(t, nil, addGadget, func(b *bed) {
		changes := b.follow(gadgets)
		require.NoError(t, b.WaitSynced(b.ctx))
		require.Equal(t, catalog.Live, b.after(0, gadgets).State)
		require.NoError(b, b.server.Delete(definitions, "", gadgets.String()))
		status := b.after(20*time.Second, gadgets)
		require.Zero(t, status.Version, "the catalog has forgotten the type")
		addType(b.server, gadgets.String(), "v2", "Gadget")
		put(b, b.server, gadgets.String(), "shop", "b")
		status = b.after(10*time.Second, gadgets)
		require.Equal(t, "v2 live 1", fmt.Sprint(status.Version, " ", status.State, " ", status.Objects))
		require.Equal(t, []string{
			"ADDED example.com/v1 shop/a", "SYNCED", "DELETED example.com/v1 shop/a", "ADDED example.com/v2 shop/b", "SYNCED",
		}, *changes)
	})
}

func TestNewVersionKeepsObjects(t *testing.T) {
	run(t, nil, addGadget, func(b *bed) {
		changes := b.follow(gadgets)
		require.NoError(t, b.WaitSynced(b.ctx))
		addType(b.server, gadgets.String(), "v2", "Gadget")
		status := b.after(20*time.Second, gadgets)
		require.Equal(t, "v2 live 1", fmt.Sprint(status.Version, " ", status.State, " ", status.Objects))
		put(b, b.server, gadgets.String(), "shop", "b")
		b.after(time.Second, gadgets)
		require.Equal(t, []string{"ADDED example.com/v1 shop/a", "SYNCED", "ADDED example.com/v2 shop/b"}, *changes)
	})
}

func TestNextRunResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, c := start(t, nil)
		put(t, server, "pods", "shop", "a")
		for _, name := range []string{"b", "c"} {
			earlier := len(server.Requests(nil))
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- c.Run(ctx) }()
			require.NoError(t, c.WaitSynced(ctx))
			put(t, server, "pods", "shop", name)
			time.Sleep(time.Minute)
			require.Equal(t, catalog.Live, statusOf(c, pods).State)
			if name == "c" {
				require.False(t, slices.ContainsFunc(server.Requests(nil)[earlier:], func(r lwtest.Request) bool {
					return r.URL.Path == "/api/v1/pods" && r.URL.Query().Get("watch") == "" && r.URL.Query().Get("limit") != "1"
				}), "the second run needs no list")
			}
			stop()
			require.ErrorIs(t, <-done, context.Canceled)
		}
		require.Equal(t, 3, statusOf(c, pods).Objects)
	})
}

func TestNewTypeIsFollowedWithinTenSeconds(t *testing.T) {
	run(t, nil, nil, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		addGadgets(b.server)
		require.Equal(t, catalog.Live, b.after(10*time.Second, gadgets).State, "the catalog follows a new type within 10 seconds")
	})
}

// With a selector, the watch of the definitions does not report all new types.
func TestNewTypeIsFollowedSoonWithSelector(t *testing.T) {
	opts := &catalog.Options{Follow: func(catalog.TypeInfo) *catalog.Settings { return &catalog.Settings{LabelSelector: "app=web"} }}
	prepare := func(server *lwtest.Server) { addType(server, "apiservices.apiregistration.k8s.io", "v1", "APIService") }
	run(t, opts, prepare, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		b.after(time.Minute, gadgets)
		addGadgets(b.server)
		require.Equal(t, catalog.Live, b.after(10*time.Second, gadgets).State)
	})
}

// The resourceVersions that the watches of the namespaces had reached are outdated when the catalog returns to these
// namespaces. They must not look like the history of a restored backup.
func TestReturnToNamespacesDoesNotLookLikeRestoredBackup(t *testing.T) {
	warnings := make(chan string, 1000)
	opts := &catalog.Options{Namespaces: []string{"a", "b"}, Warn: func(_ string, args ...any) { warnings <- fmt.Sprint(args...) }}
	prepare, allow := forbidPodsOfCluster(t)
	run(t, opts, prepare, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		allow()
		b.after(time.Minute, pods)
		for i := range 10 {
			put(t, b.server, "pods", "a", fmt.Sprint(i))
		}
		require.Empty(t, b.after(time.Minute, pods).Namespaces)
		refuse(b.server, "/api/v1/pods")
		b.server.DropConnections()
		status := b.after(2*time.Minute, pods)
		require.Equal(t, "[a b] live 12", fmt.Sprint(status.Namespaces, " ", stateAndSize(status)))
		for len(warnings) > 0 {
			require.NotContains(t, <-warnings, "backup")
		}
	})
}

func TestNamespacesReplaceForbiddenCluster(t *testing.T) {
	var denied atomic.Bool // whether lists of all namespaces are denied
	denied.Store(true)
	prepare := func(server *lwtest.Server) {
		server.Fail(func(r lwtest.Request) bool {
			return denied.Load() && r.URL.Path == "/api/v1/pods" || r.URL.Path == "/api/v1/namespaces/c/pods"
		}, -1, lwtest.Refuse(&lw.StatusError{Code: 403, Reason: "Forbidden"}))
		for _, namespace := range []string{"a", "b", "c"} {
			put(t, server, "pods", namespace, "web")
		}
	}
	run(t, &catalog.Options{Namespaces: []string{"a", "b", "c"}}, prepare, func(b *bed) {
		changes := b.follow(pods)
		require.NoError(t, b.WaitSynced(b.ctx))
		status := b.after(10*time.Second, pods)
		require.Equal(t, "live [a b] [c] 2", fmt.Sprint(status.State, " ", status.Namespaces, " ", status.Denied, " ", status.Objects))
		put(b, b.server, "pods", "b", "new")
		put(b, b.server, "pods", "c", "hidden")
		require.Equal(t, 3, b.after(time.Second, pods).Objects)

		denied.Store(false)
		status = b.after(2*time.Minute, pods)
		require.Equal(t, "live [] [] 5", fmt.Sprint(status.State, " ", status.Namespaces, " ", status.Denied, " ", status.Objects))
		require.ElementsMatch(t, []string{"ADDED v1 a/web", "ADDED v1 b/web", "SYNCED", "ADDED v1 b/new", "ADDED v1 c/web", "ADDED v1 c/hidden"}, *changes)
	})
}

func TestSettingsLimitNamespaces(t *testing.T) {
	var denied atomic.Bool
	denied.Store(true)
	prepare := func(server *lwtest.Server) {
		server.Fail(func(r lwtest.Request) bool { return denied.Load() && r.URL.Path == "/api/v1/namespaces/b/pods" },
			-1, lwtest.Refuse(&lw.StatusError{Code: 403, Reason: "Forbidden"}))
		for _, namespace := range []string{"a", "b", "c"} {
			put(t, server, "pods", namespace, "web")
		}
	}
	settings := func(info catalog.TypeInfo) *catalog.Settings {
		return &catalog.Settings{Namespaces: []string{"a", "b"}}
	}
	run(t, &catalog.Options{Follow: settings}, prepare, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		status := b.after(10*time.Second, pods)
		require.Equal(t, "live [a] [b] 1", fmt.Sprint(status.State, " ", status.Namespaces, " ", status.Denied, " ", status.Objects))
		denied.Store(false)
		status = b.after(time.Minute, pods)
		require.Equal(t, "live [a b] [] 2", fmt.Sprint(status.State, " ", status.Namespaces, " ", status.Denied, " ", status.Objects))
		require.Empty(t, b.server.Requests(func(r lwtest.Request) bool { return r.URL.Path == "/api/v1/pods" }))
		require.Empty(t, b.after(0, catalog.Type{Resource: "namespaces"}).Namespaces, "namespaces are not namespaced")
	})
}

// byNamespace makes a catalog follow the namespaces a and b separately.
func byNamespace(catalog.TypeInfo) *catalog.Settings {
	return &catalog.Settings{Namespaces: []string{"a", "b"}}
}

// A rebuilt server may have higher resourceVersions than the old one, so that each watch resumes without an error. Only
// a check of the objects reveals the other history.
func TestRebuiltServerIsDetectedInNamespaces(t *testing.T) {
	fill := func(objects ...string) func(*lwtest.Server) {
		return func(server *lwtest.Server) {
			for _, object := range objects {
				put(t, server, "pods", object[:1], object[2:])
			}
		}
	}
	for _, remaining := range [][]string{{"a/new", "b/new"}, {"a/new"}, {"b/new"}, nil} {
		t.Run(fmt.Sprint(remaining), func(t *testing.T) {
			run(t, &catalog.Options{Follow: byNamespace}, fill("a/old", "b/old"), func(b *bed) {
				require.NoError(t, b.WaitSynced(b.ctx))
				b.after(3*time.Minute, pods)
				rebuild(b.T, b.server, func(server *lwtest.Server) {
					fill(remaining...)(server)
					for i := range 100 {
						put(t, server, "configmaps", "a", fmt.Sprint("later", i))
					}
				})
				status := b.after(2*time.Minute, pods)
				var found []string
				objects, err := b.Snapshot().List(pods, "", "")
				require.NoError(t, err)
				for ref := range objects {
					found = append(found, ref.Key.String())
				}
				require.ElementsMatch(t, remaining, found)
				require.Equal(t, catalog.Live, status.State)
			})
		})
	}
}

// The watches of the namespaces have different resourceVersions, so an object of one namespace may be newer than the
// resourceVersion of the collection. This must not look like a change that the watch has not delivered.
func TestNamespacesResumeWithoutLists(t *testing.T) {
	run(t, &catalog.Options{Follow: byNamespace}, podsInTwoNamespaces(t), func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		b.after(200*time.Second, pods)
		for i := range 20 {
			put(t, b.server, "pods", "b", fmt.Sprint("new", i))
		}
		b.after(2*time.Second, pods)
		earlier := len(b.server.Requests(nil))
		b.server.DropConnections()
		require.Equal(t, catalog.Live, b.after(2*time.Second, pods).State)
		b.after(time.Minute, pods)
		require.Zero(t, lists(b.server, earlier, "pods"))
		for _, namespace := range []string{"a", "b"} {
			path := "/api/v1/namespaces/" + namespace + "/pods"
			checks := b.server.Requests(func(r lwtest.Request) bool { return r.URL.Path == path && r.URL.Query().Get("limit") == "1" })
			require.Len(t, checks, 1, path)
		}
	})
}

// Kubernetes answers a check from etcd but a watch from its cache, so only the check fails while etcd is down or slow.
func TestNamespacesResumeWithoutChecks(t *testing.T) {
	prepare := func(server *lwtest.Server) {
		put(t, server, "pods", "a", "web")
		put(t, server, "pods", "b", "web")
	}
	for _, failure := range []lw.StatusError{{Code: 504}, {Code: 500}, {Code: 429, RetryAfter: time.Second}, {Code: 503, RetryAfter: time.Second}, {Code: 403}} {
		t.Run(fmt.Sprint(failure.Code), func(t *testing.T) {
			run(t, &catalog.Options{Follow: byNamespace}, prepare, func(b *bed) {
				require.NoError(t, b.WaitSynced(b.ctx))
				b.after(time.Minute, pods)
				earlier := len(b.server.Requests(nil))
				b.server.Fail(func(r lwtest.Request) bool {
					return strings.HasSuffix(r.URL.Path, "/pods") && r.URL.Query().Get("limit") == "1"
				}, -1, lwtest.Refuse(&failure))
				b.server.DropConnections()
				require.Equal(t, catalog.Live, b.after(time.Minute, pods).State)
				require.Zero(t, lists(b.server, earlier, "pods"))
			})
		})
	}
}

// If the watch fails like the check before it, the type must not stay stale without a cause.
func TestFailureAfterCheckIsReported(t *testing.T) {
	prepare := func(server *lwtest.Server) { put(t, server, "pods", "a", "web") }
	run(t, &catalog.Options{Follow: byNamespace}, prepare, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		b.after(time.Minute, pods)
		b.server.Fail(func(r lwtest.Request) bool { return strings.HasSuffix(r.URL.Path, "/pods") }, -1, lwtest.Refuse(&lw.StatusError{Code: 504}))
		b.server.DropConnections()
		status := b.after(time.Minute, pods)
		require.Equal(t, catalog.Stale, status.State)
		require.ErrorContains(t, status.Cause, "504")
	})
}

func TestServersNamespacesAreTried(t *testing.T) {
	prepare := func(server *lwtest.Server) {
		server.Fail(func(r lwtest.Request) bool {
			return r.URL.Path == "/api/v1/pods" || r.URL.Path == "/api/v1/namespaces/b/pods"
		}, -1, lwtest.Refuse(&lw.StatusError{Code: 403, Reason: "Forbidden"}))
		for _, namespace := range []string{"a", "b"} {
			_, err := server.Put("namespaces", map[string]any{"metadata": map[string]any{"name": namespace}})
			require.NoError(t, err)
			put(t, server, "pods", namespace, "web")
		}
	}
	run(t, nil, prepare, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		status := b.after(0, pods)
		require.Equal(t, "[a] [b] 1", fmt.Sprint(status.Namespaces, " ", status.Denied, " ", status.Objects))
	})
}

func TestTypeInTwoGroupsIsFollowedOnce(t *testing.T) {
	prepare := func(server *lwtest.Server) {
		addType(server, "events.events.k8s.io", "v1", "Event")
	}
	run(t, nil, prepare, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		require.Equal(t, catalog.Live, b.after(0, catalog.Type{Resource: "events"}).State)
		require.Empty(t, b.after(0, catalog.Type{Group: "events.k8s.io", Resource: "events"}).Version)
	})
}

// Until the core group is discovered again, the same Events of the other group must not appear as new objects.
func TestFailedDiscoveryDoesNotDuplicateEvents(t *testing.T) {
	duplicates := catalog.Type{Group: "events.k8s.io", Resource: "events"}
	prepare := func(server *lwtest.Server) { addType(server, duplicates.String(), "v1", "Event") }
	run(t, nil, prepare, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		restore := b.server.Fail(func(r lwtest.Request) bool { return r.URL.Path == "/api" }, -1, lwtest.Refuse(&lw.StatusError{Code: 503}))
		b.after(2*time.Minute, duplicates)
		require.ErrorContains(t, b.WaitSynced(b.ctx), "/api: the server answered 503")
		require.Empty(t, b.after(0, duplicates).Version)
		restore()
		require.Equal(t, catalog.Live, b.after(2*time.Minute, catalog.Type{Resource: "events"}).State)
	})
}

func TestForbiddenTypeFailsWaitSynced(t *testing.T) {
	prepare := func(server *lwtest.Server) {
		server.Fail(func(r lwtest.Request) bool { return strings.HasSuffix(r.URL.Path, "/pods") }, -1, lwtest.Refuse(&lw.StatusError{Code: 403, Reason: "Forbidden"}))
	}
	run(t, &catalog.Options{Namespaces: []string{"a"}}, prepare, func(b *bed) {
		err := b.WaitSynced(b.ctx)
		require.ErrorIs(t, err, lw.ErrForbidden)
		require.ErrorContains(t, err, "pods is forbidden")
		require.Equal(t, []string{"a"}, b.after(0, pods).Denied)
	})
}

func TestLostAccessKeepsObjects(t *testing.T) {
	var forbidden atomic.Bool
	prepare := func(server *lwtest.Server) {
		server.Fail(func(r lwtest.Request) bool { return forbidden.Load() && r.URL.Path == "/api/v1/pods" }, -1, lwtest.Refuse(&lw.StatusError{Code: 403, Reason: "Forbidden"}))
		put(t, server, "pods", "a", "web")
	}
	run(t, nil, prepare, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		forbidden.Store(true)
		b.server.DropConnections()
		status := b.after(time.Minute, pods)
		require.Equal(t, "forbidden 1", fmt.Sprint(status.State, " ", status.Objects))
		forbidden.Store(false)
		require.Equal(t, catalog.Live, b.after(time.Minute, pods).State)
	})
}

func TestBrokenTypeDoesNotHoldUpOthers(t *testing.T) {
	prepare := func(server *lwtest.Server) {
		server.Fail(func(r lwtest.Request) bool { return r.URL.Path == "/api/v1/pods" }, -1, lwtest.Refuse(&lw.StatusError{Code: 503, Message: "no endpoints"}))
	}
	run(t, nil, prepare, func(b *bed) {
		err := b.WaitSynced(b.ctx)
		var failed *catalog.SyncError
		require.ErrorAs(t, err, &failed)
		require.Len(t, failed.Failed, 1)
		require.ErrorContains(t, err, "pods is unavailable: the server answered 503")
		synctest.Wait()
		for _, status := range b.Statuses() {
			require.Equal(t, status.Type != pods, status.State == catalog.Live, "%s is %s", status.Type, status.State)
		}
	})
}

func TestFailedDiscoveryKeepsTypes(t *testing.T) {
	var failing atomic.Bool
	prepare := func(server *lwtest.Server) {
		server.Fail(func(r lwtest.Request) bool { return failing.Load() && r.URL.Path == "/apis" }, -1, lwtest.Refuse(&lw.StatusError{Code: 503, Message: "down"}))
		addGadgets(server)
	}
	run(t, nil, prepare, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		failing.Store(true)
		require.Equal(t, catalog.Live, b.after(time.Minute, gadgets).State)
		require.ErrorContains(t, b.WaitSynced(b.ctx), "/apis: the server answered 503")
		failing.Store(false)
		time.Sleep(10 * time.Second)
		require.NoError(t, b.WaitSynced(b.ctx))
	})
}

func TestServerDownFailsWaitSynced(t *testing.T) {
	prepare := func(server *lwtest.Server) { server.Fail(nil, -1, hangUp) }
	run(t, nil, prepare, func(b *bed) {
		require.ErrorContains(t, b.WaitSynced(b.ctx), "discovering the server's resources")
	})
}

func TestChangedDefinitionTriggersDiscovery(t *testing.T) {
	prepare := func(server *lwtest.Server) {
		addType(server, "apiservices.apiregistration.k8s.io", "v1", "APIService")
	}
	run(t, nil, prepare, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		time.Sleep(5 * time.Minute)
		isDiscovery := func(r lwtest.Request) bool { return r.URL.Path == "/apis" }
		asked := func() int { return len(b.server.Requests(isDiscovery)) }
		before := asked()
		time.Sleep(10 * time.Minute)
		require.LessOrEqual(t, asked()-before, 11, "discovery is asked once a minute while its signs are watched")
		update := b.server.Fail(isDiscovery, -1, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusNotModified) })
		addGadgets(b.server)
		time.Sleep(3 * time.Second) // discovery lags behind
		update()
		require.Equal(t, catalog.Live, b.after(9*time.Second, gadgets).State)
	})
}

func TestFilterAndExplicitTypes(t *testing.T) {
	only := &catalog.Options{Follow: func(info catalog.TypeInfo) *catalog.Settings {
		if info.Type == pods {
			return &catalog.Settings{LabelSelector: "app=web", MetadataOnly: true}
		}
		return nil
	}}
	prepare := func(server *lwtest.Server) {
		put(t, server, "pods", "shop", "web")
		put(t, server, "pods", "shop", "db")
	}
	run(t, only, prepare, func(b *bed) {
		require.NoError(t, b.Add(gadgets, &catalog.Settings{Fields: []string{"metadata.labels"}}))
		require.ErrorContains(t, b.WaitSynced(b.ctx), "gadgets.example.com is gone: the server does not have this type")
		require.Equal(t, 1, b.after(time.Second, pods).Objects)
		require.Len(t, b.Statuses(), 2)
		addGadgets(b.server)
		put(b, b.server, gadgets.String(), "shop", "a")
		require.Equal(t, 1, b.after(10*time.Second, gadgets).Objects)
		object, ok := b.Snapshot().Get(catalog.Ref{Type: gadgets, Key: lw.Key{Namespace: "shop", Name: "a"}})
		require.True(t, ok)
		require.Empty(t, object.Get("metadata.creationTimestamp").Raw())
		b.Remove(pods)
		b.after(time.Minute, pods)
		require.Len(t, b.Statuses(), 1)
		require.Error(t, b.Add(pods, &catalog.Settings{Fields: []string{"a["}}))
	})
}

func TestFieldsMayContainManagedFields(t *testing.T) {
	for field, kept := range map[string]bool{"metadata.managedFields[*].manager": true, "metadata": false} {
		follow := func(catalog.TypeInfo) *catalog.Settings { return &catalog.Settings{Fields: []string{field}} }
		prepare := func(server *lwtest.Server) { put(t, server, "pods", "shop", "web") }
		run(t, &catalog.Options{Follow: follow}, prepare, func(b *bed) {
			require.NoError(t, b.WaitSynced(b.ctx))
			pod, ok := b.Snapshot().Get(catalog.Ref{Type: pods, Key: lw.Key{Namespace: "shop", Name: "web"}})
			require.True(t, ok)
			require.Equal(t, kept, pod.Get("metadata.managedFields[0].manager").Raw() != "", field)
		})
	}
}

func TestBytesAreLimited(t *testing.T) {
	prepare := func(server *lwtest.Server) {
		addGadgets(server)
		for i := range 100 {
			put(t, server, "pods", "shop", fmt.Sprint(i))
			put(t, server, "configmaps", "shop", fmt.Sprint(i))
			if i < 50 {
				put(t, server, gadgets.String(), "shop", fmt.Sprint(i))
			}
		}
	}
	configmaps := catalog.Type{Resource: "configmaps"}
	opts := &catalog.Options{MaxBytes: 50_000, Follow: func(info catalog.TypeInfo) *catalog.Settings {
		return &catalog.Settings{Required: info.Type == configmaps}
	}}
	run(t, opts, prepare, func(b *bed) {
		changes := b.follow(pods)
		var last catalog.Status
		go func() {
			for status := range b.StatusChanges(b.ctx) {
				if status.Type == pods {
					last = status
				}
				time.Sleep(10 * time.Millisecond) // a slow loop misses the time between the drop and the new collection
			}
		}()
		err := b.WaitSynced(b.ctx)
		var limit *catalog.LimitError
		require.ErrorAs(t, err, &limit)
		require.Equal(t, catalog.Unavailable, b.after(time.Minute, pods).State)
		require.Zero(t, b.after(0, pods).Objects)
		require.Equal(t, "unavailable 0", fmt.Sprint(last.State, " ", last.Objects))
		require.Equal(t, 100, b.after(0, configmaps).Objects)
		total := int64(0)
		for _, status := range b.Statuses() {
			total += status.Bytes
		}
		require.LessOrEqual(t, total, int64(50_000))
		require.NotContains(t, fmt.Sprint(*changes), "DELETED", "a dropped object still exists")
	})
}

func TestRestartResumesWithoutLists(t *testing.T) {
	opts := &catalog.Options{StateDir: t.TempDir()}
	run(t, opts, nil, func(b *bed) {
		server := b.server
		for i := range 10 {
			put(b, server, "pods", "shop", fmt.Sprint(i))
		}
		require.NoError(t, b.WaitSynced(b.ctx))
		time.Sleep(2 * time.Minute)
		b.stop()
		synctest.Wait()
		put(b, server, "pods", "shop", "new")
		again := catalog.New(transportTo(b.T, server), opts)
		ctx, stop := context.WithCancel(b.T.Context())
		done := make(chan struct{})
		earlier := len(server.Requests(nil))
		go func() { again.Run(ctx); close(done) }()
		require.NoError(t, again.WaitSynced(ctx))
		time.Sleep(time.Second)
		require.Equal(t, 11, statusOf(again, pods).Objects)
		for _, r := range server.Requests(nil)[earlier:] {
			query := r.URL.Query()
			require.True(t, r.URL.Path != "/api/v1/pods" || query.Get("limit") == "1" || query.Get("watch") != "" && query.Get("sendInitialEvents") == "", "%s", r.URL)
		}
		stop()
		<-done
	})
}

func TestFirstListsAreLimited(t *testing.T) {
	prepare := func(server *lwtest.Server) {
		for i := range 40 {
			addType(server, fmt.Sprintf("slow%ds.example.com", i), "v1", fmt.Sprintf("Slow%d", i))
		}
		server.Fail(func(r lwtest.Request) bool { return lwtest.Watches(r) || lwtest.Lists(r) }, -1, lwtest.Stall())
	}
	follow := func(info catalog.TypeInfo) *catalog.Settings {
		if info.Resource == "customresourcedefinitions" { // the catalog always follows it for discovery
			return nil
		}
		return &catalog.Settings{}
	}
	run(t, &catalog.Options{Follow: follow}, prepare, func(b *bed) {
		streams := func() int {
			synctest.Wait()
			return len(b.server.Open(func(r lwtest.Request) bool {
				return (lwtest.Watches(r) || lwtest.Lists(r)) && r.URL.Path != "/apis/apiextensions.k8s.io/v1/customresourcedefinitions" && r.URL.Path != "/apis/apiregistration.k8s.io/v1/apiservices"
			}))
		}
		time.Sleep(time.Second)
		require.Equal(t, 4, streams())
		time.Sleep(2 * time.Second)
		require.Equal(t, 8, streams(), "a list that takes more than 2 seconds no longer counts")
		time.Sleep(30 * time.Second)
		require.Equal(t, 16, streams())
	})
}

func TestSnapshotAnswersQueriesAcrossTypes(t *testing.T) {
	pack := compact.NewPacker()
	for _, settings := range []catalog.Settings{{}, {Pack: func(o *lw.Object) catalog.Packed { return pack(o) }}} {
		opts := &catalog.Options{Follow: func(catalog.TypeInfo) *catalog.Settings { return &settings }}
		run(t, opts, addGadgets, func(b *bed) {
			root := put(b, b.server, gadgets.String(), "shop", "root")
			require.NoError(t, b.WaitSynced(b.ctx))
			b.Snapshot().ByUID("unknown") // creates the indexes, which later changes must update
			middle := put(b, b.server, "configmaps", "shop", "middle", root)
			leaf := put(b, b.server, "pods", "shop", "leaf", middle, root)
			put(b, b.server, "pods", "other", "stray")
			time.Sleep(time.Second)
			synctest.Wait()
			s := b.Snapshot()
			ref, object, ok := s.ByUID(leaf.GetUID())
			require.True(t, ok)
			require.Equal(t, "pods/shop/leaf", ref.String())
			require.Equal(t, leaf.GetResourceVersion(), object.GetResourceVersion())
			var owned, tree, listed []string
			for ref := range s.Owned(root.GetUID()) {
				owned = append(owned, ref.String())
			}
			require.Equal(t, []string{"configmaps/shop/middle", "pods/shop/leaf"}, owned)
			for depth, ref := range s.Tree(catalog.Ref{Type: gadgets, Key: lw.KeyOf(root)}) {
				tree = append(tree, fmt.Sprint(depth, " ", ref))
			}
			require.Equal(t, []string{"0 gadgets.example.com/shop/root", "1 configmaps/shop/middle", "2 pods/shop/leaf"}, tree)
			inShop, err := s.List(pods, "shop", "app in (leaf, stray)")
			require.NoError(t, err)
			for ref := range inShop {
				listed = append(listed, ref.String())
			}
			require.Equal(t, []string{"pods/shop/leaf"}, listed)
			_, err = s.List(pods, "", "a==,")
			require.ErrorContains(t, err, "label selector")
			require.NotEmpty(t, s.ResourceVersion(pods))
			b.server.Delete("pods", "shop", "leaf")
			time.Sleep(time.Second)
			_, _, ok = b.Snapshot().ByUID(leaf.GetUID())
			require.False(t, ok)
			_, _, ok = s.ByUID(leaf.GetUID())
			require.True(t, ok, "a snapshot is immutable")
		})
	}
}

func TestLateLoopsReceivePresentObjects(t *testing.T) {
	run(t, nil, addGadget, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		time.Sleep(time.Minute)
		changes := b.follow(gadgets)
		b.after(0, gadgets)
		require.Equal(t, []string{"ADDED example.com/v1 shop/a", "SYNCED"}, *changes)
	})
}

func TestStatusChangesReportOutagesAndDeletedTypes(t *testing.T) {
	var down atomic.Bool
	prepare := func(server *lwtest.Server) {
		server.Fail(func(lwtest.Request) bool { return down.Load() }, -1, hangUp)
		addGadgets(server)
	}
	run(t, nil, prepare, func(b *bed) {
		var states []string
		go func() {
			for status := range b.StatusChanges(b.ctx) {
				if status.Type == gadgets {
					states = append(states, status.State.String())
				}
			}
		}()
		require.NoError(t, b.WaitSynced(b.ctx))
		b.after(time.Minute, gadgets)
		down.Store(true)
		b.server.DropConnections()
		b.after(time.Minute, gadgets)
		down.Store(false)
		b.after(time.Minute, gadgets)
		require.NoError(b, b.server.Delete(definitions, "", gadgets.String()))
		b.after(time.Minute, gadgets)
		text := strings.Join(slices.Compact(states), " ")
		require.Regexp(t, "^(waiting )?(listing )?live stale live (unavailable )?gone$", text)
	})
}

// hangUp is an lwtest.Fault that closes the connection without a response.
func hangUp(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// lists counts the requests for complete lists, beginning with request number since. It counts only requests whose path
// ends with the given suffix.
func lists(server *lwtest.Server, since int, path string) (n int) {
	for _, r := range server.Requests(nil)[since:] {
		query := r.URL.Query()
		if strings.HasSuffix(r.URL.Path, "/"+path) && query.Get("limit") != "1" && (query.Get("watch") == "" || query.Get("sendInitialEvents") != "") {
			n++
		}
	}
	return n
}

// refuse makes the server deny requests for some paths.
func refuse(server *lwtest.Server, paths ...string) (stop func()) {
	return server.Fail(func(r lwtest.Request) bool { return slices.Contains(paths, r.URL.Path) }, -1, lwtest.Refuse(&lw.StatusError{Code: 403, Reason: "Forbidden"}))
}

// The file contains one resourceVersion for all namespaces, so the new process receives some events again. These old
// events must not replace newer objects.
func TestRestartResumesNamespacesWithoutLists(t *testing.T) {
	opts := &catalog.Options{StateDir: t.TempDir(), Namespaces: []string{"a", "b", "c"}}
	prepare := func(server *lwtest.Server) {
		refuse(server, "/api/v1/pods", "/api/v1/namespaces/c/pods")
		put(t, server, "pods", "a", "web")
		put(t, server, "pods", "b", "web")
	}
	run(t, opts, prepare, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		b.after(time.Second, pods)
		earlier := len(b.server.Requests(nil))
		for i := range 3 {
			_, err := b.server.Put("pods", map[string]any{"metadata": map[string]any{"namespace": "a", "name": "web"}, "spec": map[string]any{"n": i}}) // the watch of namespace a gets ahead of the watch of namespace b
			require.NoError(t, err)
			put(b, b.server, "pods", "a", fmt.Sprint("new", i))
		}
		newest := put(b, b.server, "pods", "a", "web")
		require.Equal(t, 5, b.after(time.Second, pods).Objects)
		require.Zero(t, lists(b.server, earlier, "pods"), "an event of one namespace does not look like an initial object")
		b.stop()
		synctest.Wait()
		put(b, b.server, "pods", "b", "later")
		earlier = len(b.server.Requests(nil))
		again := catalog.New(transportTo(b.T, b.server), opts)
		ctx, stop := context.WithCancel(b.Context())
		next := &bed{b.T, again, b.server, ctx, stop}
		changes := next.follow(pods)
		done := make(chan struct{})
		go func() { again.Run(ctx); close(done) }()
		status := next.after(10*time.Second, pods)
		require.Equal(t, "live [a b] [c] 6", fmt.Sprint(status.State, " ", status.Namespaces, " ", status.Denied, " ", status.Objects))
		require.Zero(t, lists(b.server, earlier, "a/pods")+lists(b.server, earlier, "b/pods"))
		require.NotContains(t, strings.Join(*changes, "\n"), "MODIFIED", "no event may replace a newer object")
		object, ok := again.Snapshot().Get(catalog.Ref{Type: pods, Key: lw.Key{Namespace: "a", Name: "web"}})
		require.True(t, ok)
		require.Equal(t, newest.GetResourceVersion(), object.GetResourceVersion())
		stop()
		<-done
	})
}

func TestFileOfDeletedTypeIsRemoved(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "gadgets.example.com.state")
	run(t, &catalog.Options{StateDir: folder}, addGadget, func(b *bed) {
		changes := b.follow(gadgets)
		require.NoError(t, b.WaitSynced(b.ctx))
		b.after(2*time.Minute, gadgets)
		require.FileExists(t, path)
		require.NoError(t, b.server.Delete(definitions, "", gadgets.String()))
		b.after(time.Minute, gadgets)
		require.NoFileExists(t, path)
		addGadgets(b.server)
		require.Equal(t, catalog.Live, b.after(20*time.Second, gadgets).State)
		require.Equal(t, []string{"ADDED example.com/v1 shop/a", "SYNCED", "DELETED example.com/v1 shop/a", "SYNCED"}, *changes, "the object of the old type does not return")
	})
}

// The next process would otherwise resume from the objects of one namespace, although it follows all of them.
func TestFileOmitsObjectsOfPreviousScope(t *testing.T) {
	opts := &catalog.Options{StateDir: t.TempDir(), Namespaces: []string{"a"}}
	prepare, allow := forbidPodsOfCluster(t)
	run(t, opts, prepare, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		require.Equal(t, "live 1", stateAndSize(b.after(0, pods)))
		var requests atomic.Int32
		restore := b.server.Fail(func(r lwtest.Request) bool {
			return r.URL.Path == "/api/v1/pods" && requests.Add(1) > 1 // the first request finds out that access is permitted
		}, -1, lwtest.Refuse(&lw.StatusError{Code: 503}))
		allow()
		require.Equal(t, "stale 1", stateAndSize(b.after(3*time.Minute, pods)))
		b.stop()
		synctest.Wait()
		restore()
		again := catalog.New(transportTo(b.T, b.server), opts)
		ctx, stop := context.WithCancel(b.Context())
		done := make(chan struct{})
		go func() { again.Run(ctx); close(done) }()
		require.NoError(t, again.WaitSynced(ctx))
		require.Equal(t, "live 2", stateAndSize(statusOf(again, pods)))
		stop()
		<-done
	})
}

func TestUnusableFileIsReported(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "pods.state"), []byte("damaged"), 0o600))
	warnings := make(chan string, 100)
	opts := &catalog.Options{StateDir: folder, Warn: func(_ string, args ...any) { warnings <- fmt.Sprint(args...) }}
	run(t, opts, nil, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		require.Contains(t, <-warnings, "pods.state")
	})
}

// A restored type that the server fails to serve must not block WaitSynced.
func TestRestoredTypeMayBeUnavailable(t *testing.T) {
	opts := &catalog.Options{StateDir: t.TempDir()}
	run(t, opts, nil, func(b *bed) {
		put(b, b.server, "pods", "shop", "a")
		require.NoError(t, b.WaitSynced(b.ctx))
		b.after(2*time.Minute, pods)
		b.stop()
		synctest.Wait()
		b.server.Fail(func(r lwtest.Request) bool { return r.URL.Path == "/api/v1/pods" }, -1, lwtest.Refuse(&lw.StatusError{Code: 503, Message: "down"}))
		again := catalog.New(transportTo(b.T, b.server), opts)
		ctx, stop := context.WithCancel(b.Context())
		done := make(chan struct{})
		go func() { again.Run(ctx); close(done) }()
		require.ErrorContains(t, again.WaitSynced(ctx), "pods is unavailable: the server answered 503")
		require.Equal(t, 1, statusOf(again, pods).Objects)
		stop()
		<-done
	})
}

func TestStatusCountsBytesOfPackedObjects(t *testing.T) {
	sizes, configmaps := map[string]int64{}, catalog.Type{Resource: "configmaps"}
	pack := compact.NewPacker()
	for name, settings := range map[string]catalog.Settings{
		"text": {}, "metadata": {MetadataOnly: true}, "packed": {Pack: func(o *lw.Object) catalog.Packed { return pack(o) }},
	} {
		prepare := func(server *lwtest.Server) {
			for i := range 200 {
				_, err := server.Put("configmaps", map[string]any{"metadata": map[string]any{"namespace": "shop", "name": fmt.Sprint(i)}, "data": map[string]string{"text": strings.Repeat("the same text ", 50)}})
				require.NoError(t, err)
			}
		}
		run(t, &catalog.Options{Follow: func(catalog.TypeInfo) *catalog.Settings { return &settings }}, prepare, func(b *bed) {
			require.NoError(t, b.WaitSynced(b.ctx))
			sizes[name] = b.after(time.Second, configmaps).Bytes
			objects, err := b.Snapshot().List(configmaps, "", "")
			require.NoError(t, err)
			total := int64(0)
			for _, object := range objects {
				total += int64(len(object.Raw()))
			}
			require.Equal(t, name == "packed", sizes[name] != total)
		})
	}
	require.Less(t, sizes["packed"], sizes["text"]/3)
	require.Less(t, sizes["metadata"], sizes["text"]/2)
	require.NotZero(t, sizes["packed"])
}

// slicePacked is not comparable, so == panics for two of them.
type slicePacked struct {
	lw.Keyed
	uid  string
	text []byte
}

func (p slicePacked) GetUID() string              { return p.uid }
func (p slicePacked) Holds(other *lw.Object) bool { return string(p.text) == other.Raw() }
func (p slicePacked) Size() int                   { return len(p.text) }

func (p slicePacked) Object() *lw.Object {
	o, _ := lw.ParseObject(p.text) // the text of an object
	return o
}

func TestPackedObjectsNeedNotBeComparable(t *testing.T) {
	pack := func(o *lw.Object) catalog.Packed { return slicePacked{o, o.GetUID(), []byte(o.Raw())} }
	prepare := func(server *lwtest.Server) { put(t, server, "pods", "a", "web") }
	run(t, &catalog.Options{Follow: func(catalog.TypeInfo) *catalog.Settings { return &catalog.Settings{Pack: pack} }}, prepare, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		b.after(time.Second, pods)
		earlier := len(b.server.Requests(nil))
		for i := range 10 {
			put(t, b.server, "configmaps", "a", fmt.Sprint("new", i))
		}
		b.server.Compact() // makes the catalog relist
		b.server.DropConnections()
		changes := b.follow(pods)
		status := b.after(time.Minute, pods)
		_, err := b.server.Put("pods", map[string]any{"metadata": map[string]any{"namespace": "a", "name": "web"}, "spec": map[string]any{"n": 1}})
		require.NoError(t, err)
		b.after(time.Second, pods)
		require.Contains(t, *changes, "MODIFIED v1 a/web v1 a/web")
		require.NotZero(t, lists(b.server, earlier, "pods"))
		require.Equal(t, "live 1", fmt.Sprint(status.State, " ", status.Objects))
	})
}

// The catalog always follows the definitions for discovery. If Follow skips them, no result may contain them.
func TestSkippedDefinitionsAreHidden(t *testing.T) {
	opts := &catalog.Options{Follow: func(info catalog.TypeInfo) *catalog.Settings {
		if info.Type == gadgets {
			return &catalog.Settings{}
		}
		return nil
	}}
	crds := catalog.Type{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
	prepare := func(server *lwtest.Server) { addType(server, "apiservices.apiregistration.k8s.io", "v1", "APIService") }
	run(t, opts, prepare, func(b *bed) {
		changes := b.follow(crds)
		require.NoError(t, b.WaitSynced(b.ctx))
		b.after(time.Minute, gadgets)
		addGadgets(b.server)
		require.Equal(t, catalog.Live, b.after(3*time.Second, gadgets).State, "the watch of definitions triggers discovery")
		require.Len(t, b.Statuses(), 1)
		require.Len(t, slices.Collect(b.Snapshot().Types()), 1)
		require.Empty(t, *changes)
		require.NoError(t, b.Add(crds, nil))
		status := b.after(10*time.Second, crds)
		require.Equal(t, "live 2", fmt.Sprint(status.State, " ", status.Objects))
		require.Len(t, *changes, 3, "two definitions and the mark")
	})
}

// The request budget delays the checks of many namespaces by more than their timeout. The catalog must still resume.
func TestManyNamespacesResume(t *testing.T) {
	var namespaces []string
	for i := range 1800 {
		namespaces = append(namespaces, fmt.Sprintf("n%d", i))
	}
	opts := &catalog.Options{Follow: func(info catalog.TypeInfo) *catalog.Settings {
		if info.Type == pods {
			return &catalog.Settings{Namespaces: namespaces}
		}
		return nil
	}}
	run(t, opts, nil, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		require.Equal(t, catalog.Live, b.after(4*time.Minute, pods).State)
		b.server.DropConnections()
		status := b.after(3*time.Minute, pods)
		require.Equal(t, catalog.Live, status.State, "%v", status.Cause)
	})
}

// Access checks of many forbidden namespaces must leave half of the request budget to other requests.
func TestChecksUseHalfOfTheBudget(t *testing.T) {
	var namespaces []string
	for i := range 3000 {
		namespaces = append(namespaces, fmt.Sprintf("n%d", i))
	}
	prepare := func(server *lwtest.Server) {
		server.Fail(func(r lwtest.Request) bool { return strings.HasSuffix(r.URL.Path, "/pods") }, -1, lwtest.Refuse(&lw.StatusError{Code: 403, Reason: "Forbidden"}))
	}
	run(t, &catalog.Options{Namespaces: namespaces}, prepare, func(b *bed) {
		time.Sleep(10 * time.Second)
		earlier := len(b.server.Requests(nil))
		time.Sleep(time.Minute)
		checks := len(b.server.Requests(func(r lwtest.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/") }))
		require.Greater(t, checks, 1000)
		require.Less(t, len(b.server.Requests(nil))-earlier, 60*30)
	})
}

func TestLostNamespaceKeepsObjects(t *testing.T) {
	prepare := func(server *lwtest.Server) {
		refuse(server, "/api/v1/pods")
		put(t, server, "pods", "a", "web")
		put(t, server, "pods", "b", "web")
	}
	run(t, &catalog.Options{Namespaces: []string{"a", "b"}}, prepare, func(b *bed) {
		changes := b.follow(pods)
		require.NoError(t, b.WaitSynced(b.ctx))
		refuse(b.server, "/api/v1/namespaces/a/pods")
		b.server.DropConnections()
		status := b.after(2*time.Minute, pods)
		require.Equal(t, "live [b] [a] 2", fmt.Sprint(status.State, " ", status.Namespaces, " ", status.Denied, " ", status.Objects))
		require.Len(t, *changes, 3, "two objects and the mark")
	})
}

// forbidCluster adds the namespaces a, b and c, each with a Pod, and denies lists of all Pods.
func forbidCluster(t *testing.T) func(*lwtest.Server) {
	return func(server *lwtest.Server) {
		refuse(server, "/api/v1/pods")
		for _, namespace := range []string{"a", "b", "c"} {
			_, err := server.Put("namespaces", map[string]any{"metadata": map[string]any{"name": namespace}})
			require.NoError(t, err)
			put(t, server, "pods", namespace, "web")
		}
	}
}

// The server denies access to a deleted namespace, because the role binding was deleted with it.
func TestDeletedNamespaceLosesObjects(t *testing.T) {
	run(t, nil, forbidCluster(t), func(b *bed) {
		changes := b.follow(pods)
		require.NoError(t, b.WaitSynced(b.ctx))
		refuse(b.server, "/api/v1/namespaces/b/pods", "/api/v1/namespaces/c/pods")
		b.server.DropConnections()
		status := b.after(2*time.Minute, pods)
		require.Equal(t, "live [a] [b c] 3", fmt.Sprint(status.State, " ", status.Namespaces, " ", status.Denied, " ", status.Objects))
		for _, step := range []struct{ deleted, status, change string }{
			{"b", "live [a] [c] 2", "DELETED v1 b/web"},
			{"c", "live [a] [] 1", "DELETED v1 c/web"},
		} {
			require.NoError(t, b.server.Delete("namespaces", "", step.deleted))
			status = b.after(2*time.Minute, pods)
			require.Equal(t, step.status, fmt.Sprint(status.State, " ", status.Namespaces, " ", status.Denied, " ", status.Objects))
			require.Equal(t, step.change, (*changes)[len(*changes)-1])
		}
		require.Len(t, *changes, 6, "three objects, the mark and two deletions")
	})
}

// The catalog must not keep the objects of deleted namespaces, even if it can no longer list any namespace.
func TestLastNamespaceLosesObjects(t *testing.T) {
	run(t, nil, forbidCluster(t), func(b *bed) {
		changes := b.follow(pods)
		require.NoError(t, b.WaitSynced(b.ctx))
		var allow []func()
		for _, namespace := range []string{"a", "b", "c"} {
			allow = append(allow, refuse(b.server, "/api/v1/namespaces/"+namespace+"/pods"))
		}
		b.server.DropConnections()
		require.Equal(t, "forbidden 3", stateAndSize(b.after(2*time.Minute, pods)))
		for _, step := range []struct{ deleted, status, change string }{
			{"c", "forbidden 2", "DELETED v1 c/web"},
			{"b", "forbidden 1", "DELETED v1 b/web"},
		} {
			require.NoError(t, b.server.Delete("namespaces", "", step.deleted))
			require.Equal(t, step.status, stateAndSize(b.after(2*time.Minute, pods)))
			require.Equal(t, step.change, (*changes)[len(*changes)-1])
		}
		allow[0]()
		put(t, b.server, "pods", "a", "new")
		require.Equal(t, "live 2", stateAndSize(b.after(2*time.Minute, pods)))
	})
}

// A broken list of the namespaces shows nothing about the namespaces that it lacks.
func TestBrokenListOfNamespacesKeepsScope(t *testing.T) {
	run(t, nil, forbidCluster(t), func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		b.server.Fail(func(r lwtest.Request) bool {
			return r.URL.Path == "/api/v1/namespaces" && r.URL.Query().Get("watch") == ""
		}, -1,
			lwtest.ReplaceEvent(0, func(list []byte) ([]byte, bool) {
				return list[:strings.Index(string(list), `"name":"b"`)], false
			}))
		for range 10 {
			status := b.after(15*time.Second, pods)
			require.Equal(t, "live [a b c] [] 3", fmt.Sprint(status.State, " ", status.Namespaces, " ", status.Denied, " ", status.Objects))
		}
	})
}

func TestUnansweredAccessCheckIsNotDenied(t *testing.T) {
	prepare := func(server *lwtest.Server) {
		forbidCluster(t)(server)
		refuse(server, "/api/v1/namespaces/b/pods")
		server.Fail(func(r lwtest.Request) bool { return r.URL.Path == "/api/v1/namespaces/c/pods" }, -1, lwtest.Refuse(&lw.StatusError{Code: 503}))
	}
	run(t, nil, prepare, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		require.Equal(t, []string{"b"}, b.after(time.Minute, pods).Denied)
	})
}

// A loop that removes a type must not wait for the objects that the loop itself would receive next.
func TestRemoveInsideChangesLoop(t *testing.T) {
	prepare := func(server *lwtest.Server) {
		for i := range 5 {
			put(t, server, "pods", "shop", fmt.Sprint(i))
		}
	}
	run(t, nil, prepare, func(b *bed) {
		received := 0
		for change := range b.Changes(b.ctx, nil) {
			if change.Resource != pods {
				continue
			}
			received++
			synctest.Wait() // the next object is waiting for this loop
			b.Remove(pods)
			break
		}
		require.Equal(t, 1, received)
		require.Zero(t, b.after(time.Minute, pods).Version)
	})
}

// A file must not be written or deleted outside of StateDir, whatever names a server invents.
func TestNamesOfTypesAreNotPaths(t *testing.T) {
	folder := t.TempDir()
	for _, resource := range []string{"../../x", `..\..\x`, "a/b"} {
		c := catalog.New(nil, &catalog.Options{StateDir: folder})
		require.ErrorContains(t, c.Add(catalog.Type{Resource: resource}, nil), "is not a name of a type", resource)
	}
}

// podsInTwoNamespaces returns a function that creates the Pods a/web and b/web on a server.
func podsInTwoNamespaces(t *testing.T) func(*lwtest.Server) {
	return func(server *lwtest.Server) {
		put(t, server, "pods", "a", "web")
		put(t, server, "pods", "b", "web")
	}
}

// forbidPodsOfCluster returns a function that does the same and denies lists of all Pods. After that, allow permits them.
func forbidPodsOfCluster(t *testing.T) (prepare func(*lwtest.Server), allow func()) {
	var restore func()
	prepare = func(server *lwtest.Server) {
		podsInTwoNamespaces(t)(server)
		restore = refuse(server, "/api/v1/pods")
	}
	return prepare, func() { restore() }
}

// A server that never answers the check of one namespace must not keep the whole type stale.
func TestUnansweredCheckOfNamespaceEndsSoon(t *testing.T) {
	run(t, &catalog.Options{Follow: byNamespace}, podsInTwoNamespaces(t), func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		b.after(time.Minute, pods)
		earlier := len(b.server.Requests(nil))
		b.server.Fail(func(r lwtest.Request) bool {
			return r.URL.Path == "/api/v1/namespaces/b/pods" && r.URL.Query().Get("limit") == "1"
		}, -1, lwtest.Stall())
		b.server.DropConnections()
		require.Equal(t, catalog.Stale, b.after(10*time.Second, pods).State, "the check may still be answered")
		require.Equal(t, catalog.Live, b.after(30*time.Second, pods).State)
		put(t, b.server, "pods", "b", "new")
		require.Equal(t, 3, b.after(time.Second, pods).Objects, "the catalog watches the namespace")
		require.Equal(t, catalog.Live, b.after(5*time.Minute, pods).State)
		require.Zero(t, lists(b.server, earlier, "pods"))
	})
}

func TestInvalidSettingsAreReportedOnce(t *testing.T) {
	var path atomic.Value
	path.Store("a[")
	warnings := make(chan string, 100)
	opts := &catalog.Options{
		Follow: func(info catalog.TypeInfo) *catalog.Settings {
			if info.Type != gadgets {
				return nil
			}
			return &catalog.Settings{Fields: []string{path.Load().(string)}}
		},
		Warn: func(_ string, args ...any) { warnings <- fmt.Sprint(args...) },
	}
	run(t, opts, addGadget, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		b.after(5*time.Minute, gadgets)
		require.Len(t, warnings, 1)
		require.Contains(t, <-warnings, "a[")
		path.Store("b[")
		b.after(5*time.Minute, gadgets)
		require.Len(t, warnings, 1, "another invalid setting is reported")
		require.Contains(t, <-warnings, "b[")
		path.Store("metadata.labels")
		require.Equal(t, catalog.Live, b.after(5*time.Minute, gadgets).State)
		require.Empty(t, warnings)
	})
}

// The catalog follows the definitions even if Follow skips them, but they count as types that it does not follow.
func TestFollowIsAskedAgainForHiddenDefinitions(t *testing.T) {
	crds := catalog.Type{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
	var settings atomic.Pointer[catalog.Settings]
	opts := &catalog.Options{
		Follow: func(info catalog.TypeInfo) *catalog.Settings {
			if info.Type == crds {
				return settings.Load()
			}
			return nil
		},
		Warn: func(string, ...any) {},
	}
	run(t, opts, addGadgets, func(b *bed) {
		changes := b.follow(crds)
		require.NoError(t, b.WaitSynced(b.ctx))
		require.Empty(t, b.after(5*time.Minute, crds).Version)
		settings.Store(&catalog.Settings{Fields: []string{"a["}})
		require.Empty(t, b.after(5*time.Minute, crds).Version, "invalid settings change nothing")
		settings.Store(&catalog.Settings{})
		status := b.after(5*time.Minute, crds)
		require.Equal(t, "live 1", fmt.Sprint(status.State, " ", status.Objects))
		require.Len(t, *changes, 2, "the definition and the mark")
		open := b.server.Open(func(r lwtest.Request) bool {
			return lwtest.Watches(r) && strings.HasSuffix(r.URL.Path, "/"+crds.Resource)
		})
		require.Len(t, open, 1)
	})
}

// Without the definitions, the catalog would need discovery every 5 seconds to find new types.
func TestInvalidSettingsHideDefinitions(t *testing.T) {
	opts := &catalog.Options{
		Follow: func(catalog.TypeInfo) *catalog.Settings { return &catalog.Settings{Fields: []string{"a["}} },
		Warn:   func(string, ...any) {},
	}
	run(t, opts, addGadgets, func(b *bed) {
		crds := catalog.Type{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
		b.after(time.Minute, crds)
		require.Empty(t, b.Statuses())
		open := func() int {
			return len(b.server.Open(func(r lwtest.Request) bool {
				return lwtest.Watches(r) && strings.HasSuffix(r.URL.Path, "/"+crds.Resource)
			}))
		}
		require.Equal(t, 1, open())
		require.ErrorContains(t, b.Add(crds, &catalog.Settings{Fields: []string{"a["}}), "a[")
		synctest.Wait()
		require.Equal(t, 1, open(), "an error of Add changes nothing")
	})
}

// The loop has not received the last change of a deleted type yet, so the type's stream cannot end.
func TestBlockedLoopDoesNotDelayDiscovery(t *testing.T) {
	prepare := func(server *lwtest.Server) {
		addGadget(server)
		put(t, server, gadgets.String(), "shop", "b")
	}
	run(t, nil, prepare, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		gizmos := catalog.Type{Group: "example.com", Resource: "gizmos"}
		var states []catalog.State
		var deleted []string
		go func() {
			for change := range b.Changes(b.ctx, nil) {
				if change.Resource != gadgets || change.Type != lw.Deleted {
					continue
				}
				if deleted = append(deleted, change.Old.GetName()); len(deleted) == 1 {
					time.Sleep(time.Minute)
					addType(b.server, gizmos.String(), "v1", "Gizmo")
					states = append(states, b.after(30*time.Second, gizmos).State)
				}
			}
		}()
		// The catalog must find out by discovery that the objects are gone, and not by the watch.
		b.server.Fail(func(r lwtest.Request) bool { return strings.HasSuffix(r.URL.Path, "/gadgets") }, -1, lwtest.Refuse(&lw.StatusError{Code: 503}))
		b.server.DropConnections()
		b.after(time.Second, gadgets)
		require.NoError(t, b.server.Delete(definitions, "", gadgets.String()))
		b.after(5*time.Minute, gadgets)
		require.Equal(t, []catalog.State{catalog.Live}, states)
		require.ElementsMatch(t, []string{"a", "b"}, deleted)
	})
}

// An early change in one namespace does not mean that the other namespaces are watched.
func TestTypeIsLiveOnlyIfAllNamespacesAreWatched(t *testing.T) {
	run(t, &catalog.Options{Follow: byNamespace}, podsInTwoNamespaces(t), func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		b.after(time.Minute, pods)
		stop := b.server.Fail(func(r lwtest.Request) bool { return r.URL.Path == "/api/v1/namespaces/b/pods" && lwtest.Watches(r) }, -1, lwtest.Stall())
		b.server.DropConnections()
		b.after(10*time.Second, pods)
		put(t, b.server, "pods", "a", "new")
		require.Equal(t, catalog.Stale, b.after(time.Second, pods).State)
		stop()
		require.Equal(t, catalog.Live, b.after(3*time.Minute, pods).State)
		require.Equal(t, 3, b.after(time.Second, pods).Objects)
	})
}

// Restored objects are confirmed only if all namespaces are watched.
func TestWaitSyncedWaitsForAllNamespaces(t *testing.T) {
	opts := &catalog.Options{StateDir: t.TempDir(), Follow: byNamespace}
	prepare := func(server *lwtest.Server) {
		put(t, server, "pods", "a", "web")
		put(t, server, "pods", "b", "web")
	}
	run(t, opts, prepare, func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		b.stop()
		synctest.Wait()
		b.server.Fail(func(r lwtest.Request) bool { return r.URL.Path == "/api/v1/namespaces/b/pods" && lwtest.Watches(r) }, 1, lwtest.Stall())
		put(t, b.server, "pods", "a", "new")
		again := catalog.New(transportTo(b.T, b.server), opts)
		ctx, stop := context.WithCancel(b.Context())
		done := make(chan struct{})
		go func() { again.Run(ctx); close(done) }()
		begin := time.Now()
		require.NoError(t, again.WaitSynced(ctx))
		require.Greater(t, time.Since(begin), time.Minute, "the first watch of namespace b is not answered")
		require.Equal(t, 3, statusOf(again, pods).Objects)
		stop()
		<-done
	})
}

// The catalog empties the collection of a deleted type without a request, so it must not wait for lists of other types.
func TestDeletedTypeDoesNotWaitForLists(t *testing.T) {
	run(t, nil, addGadget, func(b *bed) {
		changes := b.follow(gadgets)
		require.NoError(t, b.WaitSynced(b.ctx))
		// The catalog must find out by discovery that the object is gone, and not by the watch.
		b.server.Fail(func(r lwtest.Request) bool { return strings.HasSuffix(r.URL.Path, "/gadgets") }, -1, lwtest.Refuse(&lw.StatusError{Code: 503}))
		b.server.DropConnections()
		b.server.Fail(func(r lwtest.Request) bool { return strings.Contains(r.URL.Path, "/slow") }, -1, lwtest.Stall())
		for i := range 20 {
			addType(b.server, fmt.Sprintf("slow%ds.example.com", i), "v1", fmt.Sprintf("Slow%d", i))
		}
		b.after(30*time.Second, gadgets)
		require.NoError(t, b.server.Delete(definitions, "", gadgets.String()))
		require.Zero(t, b.after(20*time.Second, gadgets).Version, "the catalog has forgotten the type")
		require.Contains(t, *changes, "DELETED example.com/v1 shop/a")
	})
}

// The catalog checks the namespaces every 30 seconds, and servers close each watch after some minutes.
func TestStatusChangesOmitEqualStatuses(t *testing.T) {
	run(t, nil, forbidCluster(t), func(b *bed) {
		require.NoError(t, b.WaitSynced(b.ctx))
		b.after(time.Minute, pods)
		received := map[catalog.Type]int{}
		go func() {
			for status := range b.StatusChanges(b.ctx) {
				received[status.Type]++
			}
		}()
		b.after(30*time.Minute, pods)
		for of, n := range received {
			require.Equal(t, 1, n, "%s", of)
		}
		require.Contains(t, received, pods)
	})
}
