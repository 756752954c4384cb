// Package informers measures informers end to end over loopback, ours beside client-go's dynamic ones: what bench/watches and
// bench/growth do. Every measurement has a client's process and a server's process of its own; what is told is the client's.
package informers

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/ws"
)

// The transports: HTTP/1.1 and WebSocket are without TLS, HTTP/2 is with, for both sides. WebSocket is ours alone.
const (
	HTTP1     = "HTTP/1.1"
	HTTP2     = "HTTP/2"
	WebSocket = "WebSocket"
)

// contender makes informers, all of one client.
type contender interface {
	informer(namespace string) informer
}

// informer follows the Pods of a namespace, with its store.
type informer interface {
	// handle adds a handler that is told every event, and tells its resource version on.
	handle(told func(version string))
	run(ctx context.Context)
	synced(ctx context.Context)
}

var contenders = map[string]func(address, string) contender{"listwatch": newOurs, "client-go": newClientGo}

type ours struct{ transport lw.Transport }

func newOurs(server address, transport string) contender {
	over, err := lwhttp.New(server.URL, &lwhttp.Options{CAData: []byte(server.CA)})
	measure.Must(err)
	if transport == WebSocket {
		return ours{ws.New(over, nil)}
	}
	return ours{over}
}

func (c ours) informer(namespace string) informer {
	client, err := lw.NewClient(c.transport, lw.Pods(namespace), lw.RawCodec{}, nil)
	measure.Must(err)
	return ourInformer{cache.NewInformer(client, nil)}
}

type ourInformer struct{ *cache.Informer[*lw.Object] }

func (i ourInformer) handle(told func(string)) {
	i.Handle(cache.Handler[*lw.Object]{
		Added:   func(pod *lw.Object, _ bool) { told(pod.GetResourceVersion()) },
		Updated: func(_, pod *lw.Object) { told(pod.GetResourceVersion()) },
		Deleted: func(pod *lw.Object, _ bool) { told(pod.GetResourceVersion()) },
	}, &cache.HandlerOptions[*lw.Object]{Policy: cache.KeepAll}) // as client-go does
}

func (i ourInformer) run(ctx context.Context) { _ = i.Run(ctx) }

func (i ourInformer) synced(ctx context.Context) {
	select {
	case <-i.Synced():
	case <-ctx.Done():
		panic("an informer does not sync")
	}
}

type theirs struct{ dynamic.Interface }

func newClientGo(server address, _ string) contender {
	config := &rest.Config{Host: server.URL, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(server.CA)}}
	client, err := dynamic.NewForConfig(config)
	measure.Must(err)
	return theirs{client}
}

func (c theirs) informer(namespace string) informer {
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	return theirInformer{dynamicinformer.NewFilteredDynamicInformer(c, pods, namespace, 0, clientgo.Indexers{}, nil).Informer()}
}

type theirInformer struct{ clientgo.SharedIndexInformer }

func (i theirInformer) handle(told func(string)) {
	version := func(object any) { told(object.(*unstructured.Unstructured).GetResourceVersion()) }
	_, err := i.AddEventHandler(clientgo.ResourceEventHandlerFuncs{
		AddFunc:    version,
		UpdateFunc: func(_, object any) { version(object) },
		DeleteFunc: version,
	})
	measure.Must(err)
}

func (i theirInformer) run(ctx context.Context) { i.RunWithContext(ctx) }

func (i theirInformer) synced(ctx context.Context) {
	for !i.HasSynced() {
		if ctx.Err() != nil {
			panic("an informer does not sync")
		}
		time.Sleep(time.Millisecond) // it has no channel for this
	}
}
