//go:build js

// Command bundle is a WASM program that `make size` builds to measure the size of the library. It calls every API that
// a typical page uses, except a transport, so that the linker keeps the code of these APIs.
package main

import (
	"context"
	"io"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// page stands in for JavaScript, which provides and receives the data in a real page.
type page struct{}

func (page) Open(context.Context, *lw.Request) (*lw.Response, error) {
	return nil, lw.ReadStatusError(503, "1", page{})
}

func (page) Read([]byte) (int, error)    { return 0, io.EOF }
func (page) Write(p []byte) (int, error) { return len(p), nil }

type follower struct {
	origin    string
	stop      context.CancelFunc
	wake      chan struct{}
	reflector *cache.Reflector[*lw.Object]
	index     *cache.Index[*lw.Object, string]
	shown     *cache.Snapshot[*lw.Object]
}

func newFollower(resource lw.Resource, selector string, paths ...string) (*follower, error) {
	projection, err := lw.Project(paths...)
	if err != nil {
		return nil, err
	}
	client, err := lw.NewClient(page{}, resource, projection, &lw.ClientOptions{MaxFrame: 1 << 20})
	if err != nil {
		return nil, err
	}
	f := &follower{origin: resource.String(), wake: make(chan struct{}, 1)}
	f.reflector = cache.NewReflector(client, &lw.Options{LabelSelector: selector, Wake: f.wake, StopOn: lw.IsPermanent})
	f.index = cache.NewIndex(f.reflector.Store(), cache.ByField(paths[0]))
	if err := f.reflector.Restore(page{}, f.origin, lw.ParseObject); err != nil {
		println(err.Error())
	}
	return f, nil
}

// run prints events until a permanent error occurs or f.stop is called.
func (f *follower) run() error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	f.stop = stop
	ctx = lw.WithTrace(ctx, &lw.Trace{
		Opened: func(req *lw.Request, err error) { println(req.Path, req.Query, req.Accept, req.Watch, err) },
		Read:   func(bytes int) { println(bytes) },
		Event:  func(event lw.Event[lw.Keyed]) { println(event.Type.String(), event.ResourceVersion) },
	})
	for event, changes := range f.reflector.Follow(ctx) {
		switch event.Type {
		case lw.Interrupted:
			b := event.Interruption
			println(b.Err.Error(), lw.IsPermanent(b.Err), b.Delay.Milliseconds(), b.Relist, b.Final)
		case lw.DecodeFailed:
			println(event.Err.Error())
		default:
			println(event.Type.String(), len(changes))
			if err := f.show(); err != nil {
				return err
			}
		}
	}
	return context.Cause(ctx)
}

// show prints the changes since the previous call.
func (f *follower) show() error {
	snapshot := f.reflector.Store().Snapshot()
	changes, err := cache.Diff(f.shown, snapshot)
	if err != nil {
		return err
	}
	f.shown = snapshot
	for _, change := range changes {
		switch change.Type {
		case cache.Deleted:
			println(change.Old.Key().String())
		default:
			println(change.New.Key().String(), change.New.Raw(), change.New.Get("status.phase").String())
		}
	}
	return nil
}

// read prints the results of queries on the latest snapshot.
func (f *follower) read(namespace, name, key string) {
	object, ok := f.shown.Get(lw.Key{Namespace: namespace, Name: name})
	if ok {
		println(object.Raw())
	}
	for object := range f.shown.All() {
		println(object.GetUID(), object.GetResourceVersion())
	}
	for _, object := range f.index.In(f.shown).List(key) {
		println(object.Raw())
	}
	println(f.shown.Len(), f.shown.ResourceVersion(), len(f.index.In(f.shown).Keys()))
}

func main() {
	f, err := newFollower(lw.Resource{Group: "apps", Version: "v1", Plural: "deployments"}, "app=web", "spec.nodeName", "status")
	if err != nil {
		println(err.Error())
		return
	}
	go func() {
		f.wake <- struct{}{}
		f.stop()
	}()
	if err := f.run(); err != nil {
		println(err.Error())
	}
	f.read("default", "web", "n1")
	if err := cache.Save(page{}, f.shown, f.origin, (*lw.Object).Raw); err != nil {
		println(err.Error())
	}
}
