package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
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
)

// client is an informer behind its own proxy.
type client struct {
	name    string
	start   func(c *client) (run func(context.Context), synced func() bool)
	proxy   *proxy
	changes *changes
	outages outages
}

func newClient(name string, start func(*client) (func(context.Context), func() bool)) *client {
	return &client{name: name, start: start, changes: newChanges()}
}

// begin runs the informer and waits until it has synced.
func (c *client) begin(ctx context.Context, server string, running *sync.WaitGroup) (err error) {
	if c.proxy, err = newProxy(strings.TrimPrefix(server, "http://")); err != nil {
		return err
	}
	run, synced := c.start(c)
	running.Go(func() { run(ctx) })
	for deadline := time.Now().Add(patience); !synced(); time.Sleep(time.Millisecond) {
		if ctx.Err() != nil || time.Now().After(deadline) {
			c.proxy.close()
			return fmt.Errorf("%s does not sync", c.name)
		}
	}
	return nil
}

// saw is called by a handler with an object's name and the time of its last write.
func (c *client) saw(name, wrote string) {
	ns, err := strconv.ParseInt(wrote, 10, 64)
	measure.Must(err)
	c.changes.saw(name, time.Unix(0, ns), time.Now())
}

// startOurs makes the library's informer. An outage lasts from Interrupted to Live.
func startOurs(c *client) (run func(context.Context), synced func() bool) {
	transport, err := lwhttp.New(c.proxy.url(), nil)
	measure.Must(err)
	source, err := lw.NewClient(transport, lw.Pods("flap"), lw.RawCodec{}, nil)
	measure.Must(err)
	informer := cache.NewInformer(source, nil)
	saw := func(pod *lw.Object) {
		at, _ := pod.Annotation(written)
		c.saw(pod.GetName(), at)
	}
	informer.Handle(cache.Handler[*lw.Object]{
		Added:   func(pod *lw.Object, _ bool) { saw(pod) },
		Updated: func(_, pod *lw.Object) { saw(pod) },
	}, &cache.HandlerOptions[*lw.Object]{Policy: cache.KeepAll}) // client-go keeps all, too
	trace := &lw.Trace{
		Interrupted: func(*lw.Break) { c.outages.begin(time.Now()) },
		Live:        func(string) { c.outages.end(time.Now()) },
	}
	synced = func() bool {
		select {
		case <-informer.Synced():
			return true
		default:
			return false
		}
	}
	return func(ctx context.Context) { _ = informer.Run(lw.WithTrace(ctx, trace)) }, synced
}

// startClientGo makes client-go's dynamic informer. An outage lasts from the end of a watch's response body to the next
// successful response to a watch.
func startClientGo(c *client) (run func(context.Context), synced func() bool) {
	config := &rest.Config{Host: c.proxy.url(), QPS: -1}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return observer{next, &c.outages} })
	over, err := dynamic.NewForConfig(config)
	measure.Must(err)
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	informer := dynamicinformer.NewFilteredDynamicInformer(over, pods, "flap", 0, clientgo.Indexers{}, nil).Informer()
	saw := func(object any) {
		pod := object.(*unstructured.Unstructured)
		c.saw(pod.GetName(), pod.GetAnnotations()[written])
	}
	_, err = informer.AddEventHandler(clientgo.ResourceEventHandlerFuncs{
		AddFunc:    saw,
		UpdateFunc: func(_, object any) { saw(object) },
	})
	measure.Must(err)
	return informer.RunWithContext, informer.HasSynced
}

// observer notes when a watch begins and ends.
type observer struct {
	http.RoundTripper
	outages *outages
}

// RoundTrip implements http.RoundTripper.
func (o observer) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := o.RoundTripper.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusOK && r.URL.Query().Has("watch") {
		o.outages.end(time.Now())
		response.Body = &observed{ReadCloser: response.Body, outages: o.outages}
	}
	return response, err
}

// observed is the body of a watch.
type observed struct {
	io.ReadCloser
	outages *outages
	ended   bool
}

// Read implements io.Reader.
func (b *observed) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !b.ended {
		b.ended = true
		b.outages.begin(time.Now())
	}
	return n, err
}
