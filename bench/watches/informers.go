package main

import (
	"context"

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

// informer is the common interface of the compared informers, which cache all Pods. handle adds a handler, which is called
// for each added, modified or deleted Pod. run runs the informer until the context is done. waitForSync blocks until the
// cache contains all Pods.
type informer struct {
	handle      func(func())
	run         func(context.Context)
	waitForSync func()
}

// newInformers returns a function that creates informers. All informers share their connections.
func newInformers(t task) func() informer {
	if t.Client == "listwatch" {
		return listwatchInformers(t)
	}
	return clientGoInformers(t)
}

func listwatchInformers(t task) func() informer {
	overHTTP := harness.MustGet(lwhttp.New(t.Server.URL, &lwhttp.Options{CAData: []byte(t.Server.CA)}))
	var transport lw.Transport = overHTTP
	if t.Transport == overWebSocket {
		transport = ws.New(overHTTP)
	}
	return func() informer {
		client := harness.MustGet(lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil))
		i := cache.NewInformer(client, nil)
		handle := func(do func()) {
			i.Handle(cache.Handler[*lw.Object]{
				Added:    func(*lw.Object, bool) { do() },
				Modified: func(_, _ *lw.Object) { do() },
				Deleted:  func(*lw.Object, bool) { do() },
			}, &cache.HandlerOptions[*lw.Object]{Policy: cache.Unbounded}) // client-go also queues events without a limit
		}
		run := func(ctx context.Context) { _ = i.Run(ctx) } // fails only when ctx is done
		return informer{handle, run, func() { harness.Must(i.WaitSynced(context.Background())) }}
	}
}

func clientGoInformers(t task) func() informer {
	// A QPS of -1 disables the rate limit that all informers would share. listwatch has no shared limit.
	config := &rest.Config{Host: t.Server.URL, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(t.Server.CA)}}
	client := harness.MustGet(dynamic.NewForConfig(config))
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	return func() informer {
		i := dynamicinformer.NewFilteredDynamicInformer(client, pods, "", 0, clientgo.Indexers{}, nil).Informer()
		handle := func(do func()) {
			harness.MustGet(i.AddEventHandler(clientgo.ResourceEventHandlerFuncs{
				AddFunc: func(any) { do() }, UpdateFunc: func(_, _ any) { do() }, DeleteFunc: func(any) { do() },
			}))
		}
		return informer{handle, i.RunWithContext, func() { harness.Until(i.HasSynced) }}
	}
}
