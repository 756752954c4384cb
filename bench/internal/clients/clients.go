// Package clients provides the informers that bench/watches and bench/flap compare: listwatch's informers and
// client-go's dynamic informers.
package clients

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/ws"
)

// Names of the clients, in print order.
const (
	Listwatch = "listwatch"
	ClientGo  = "client-go"
)

// Options configure the connection of a client to its server.
type Options struct {
	URL       string
	CA        string                                    // CA certificate of an HTTPS server in PEM format
	WebSocket bool                                      // listwatch only: watch over WebSocket
	Wrap      func(http.RoundTripper) http.RoundTripper // client-go only: wraps the HTTP transport; may be nil
}

// Pod is an *lw.Object or an *unstructured.Unstructured.
type Pod interface{ GetName() string }

// Informer caches the Pods of a namespace.
type Informer interface {
	// Handle adds a handler, which is called with each added, modified or deleted Pod.
	Handle(func(Pod))
	// Run runs the informer and blocks until ctx is done.
	Run(context.Context)
	// WaitForSync blocks until the cache contains all Pods. It returns an error if ctx is done first.
	WaitForSync(context.Context) error
}

// New returns a function that creates informers with a shared client. The name must be Listwatch or ClientGo.
func New(name string, o Options) (newInformer func(namespace string) Informer) {
	if name == Listwatch {
		return newListwatch(o)
	}
	return newClientGo(o)
}

func newListwatch(o Options) func(string) Informer {
	overHTTP := harness.MustGet(lwhttp.New(o.URL, &lwhttp.Options{CAData: []byte(o.CA)}))
	var transport lw.Transport = overHTTP
	if o.WebSocket {
		transport = ws.New(overHTTP)
	}
	return func(namespace string) Informer {
		client := harness.MustGet(lw.NewClient(transport, lw.Pods(namespace), lw.RawCodec{}, nil))
		return listwatchInformer{cache.NewInformer(client, nil)}
	}
}

type listwatchInformer struct{ informer *cache.Informer[*lw.Object] }

func (i listwatchInformer) Handle(handle func(Pod)) {
	i.informer.Handle(cache.Handler[*lw.Object]{
		Added:    func(pod *lw.Object, _ bool) { handle(pod) },
		Modified: func(_, pod *lw.Object) { handle(pod) },
		Deleted:  func(pod *lw.Object, _ bool) { handle(pod) },
	}, &cache.HandlerOptions[*lw.Object]{Policy: cache.Unbounded}) // client-go also queues events without a limit
}

func (i listwatchInformer) Run(ctx context.Context) {
	_ = i.informer.Run(ctx) // returns only when ctx is done
}

func (i listwatchInformer) WaitForSync(ctx context.Context) error {
	select {
	case <-i.informer.Synced():
		return nil
	case <-ctx.Done():
		return notSynced(ctx)
	}
}

func newClientGo(o Options) func(string) Informer {
	config := &rest.Config{Host: o.URL, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(o.CA)}}
	if o.Wrap != nil {
		config.Wrap(o.Wrap)
	}
	client := harness.MustGet(dynamic.NewForConfig(config))
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	return func(namespace string) Informer {
		informer := dynamicinformer.NewFilteredDynamicInformer(client, pods, namespace, 0, clientgo.Indexers{}, nil)
		return clientGoInformer{informer.Informer()}
	}
}

type clientGoInformer struct{ informer clientgo.SharedIndexInformer }

func (i clientGoInformer) Handle(handle func(Pod)) {
	pod := func(object any) { handle(object.(*unstructured.Unstructured)) }
	harness.MustGet(i.informer.AddEventHandler(clientgo.ResourceEventHandlerFuncs{
		AddFunc:    pod,
		UpdateFunc: func(_, object any) { pod(object) },
		DeleteFunc: pod,
	}))
}

func (i clientGoInformer) Run(ctx context.Context) { i.informer.RunWithContext(ctx) }

func (i clientGoInformer) WaitForSync(ctx context.Context) error {
	for !i.informer.HasSynced() {
		if ctx.Err() != nil {
			return notSynced(ctx)
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

func notSynced(ctx context.Context) error {
	return fmt.Errorf("an informer did not sync: %w", context.Cause(ctx))
}
