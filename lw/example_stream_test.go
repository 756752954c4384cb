//go:build !js

package lw_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// An Interruption describes why the stream was interrupted and how it continues. Here the server closes the watch and
// then rejects the next watch as expired.
func ExampleInterruption() {
	server, pods, end := serve("web-0")
	defer end()
	watches := 0
	for event := range lw.ListAndWatch(context.Background(), pods, nil) {
		switch event.Type {
		case lw.WatchStarted:
			fmt.Println("watching from resourceVersion", event.ResourceVersion)
			watches++
			if watches == 2 {
				return
			}
			server.Fail(lwtest.Watches, 1, lwtest.Refuse(&lw.StatusError{Code: 410, Reason: "Expired"}))
			server.CloseWatches()
		case lw.Interrupted:
			cause := "another cause"
			switch {
			case errors.Is(event.Interruption.Err, lw.ErrWatchClosed):
				cause = "closed cleanly"
			case errors.Is(event.Interruption.Err, lw.ErrExpired):
				cause = "expired"
			}
			fmt.Println(cause+", relist:", event.Interruption.Relist)
		case lw.Synced:
			fmt.Println("synced at resourceVersion", event.ResourceVersion)
		}
	}
	// Output:
	// synced at resourceVersion 2
	// watching from resourceVersion 2
	// closed cleanly, relist: false
	// expired, relist: true
	// synced at resourceVersion 2
	// watching from resourceVersion 2
}

// After derives the state of a collection from the events of its stream. A cache.Informer returns this state from
// Informer.State.
func ExampleState_After() {
	server, pods, end := serve("web-0")
	defer end()
	server.Fail(lwtest.Lists, 1, lwtest.Refuse(&lw.StatusError{Code: 500}))
	var state lw.State
	fmt.Println(state.Phase)
	state = state.After(lw.Interrupted, &lw.Interruption{}, time.Now())
	for event := range lw.ListAndWatch(context.Background(), pods, &lw.Options{NoStreamingList: true}) {
		before := state.Phase
		state = state.After(event.Type, event.Interruption, time.Now())
		if state.Phase != before {
			fmt.Println(state.Phase)
		}
		if state.Phase == lw.Live {
			break
		}
	}
	// Output:
	// waiting
	// listing
	// live
}

// A stream can resume from a saved resourceVersion.
func ExampleResume() {
	server, pods, end := serve("web-0")
	defer end()
	version := put(server, "web-1", "Pending")
	put(server, "web-0", "Running")
	for event := range lw.Resume(context.Background(), pods, lw.Held{ResourceVersion: version}, nil) {
		fmt.Println(event.Type)
		if event.Type == lw.Modified {
			fmt.Println(event.Object.GetName(), event.Object.Get("status.phase"))
			return
		}
	}
	// Output:
	// WATCH_STARTED
	// MODIFIED
	// web-0 Running
}

// A Trace observes the requests of a stream, for metrics and logs.
func ExampleTrace() {
	_, pods, end := serve("web-0")
	defer end()
	trace := &lw.Trace{
		Open:  func(req *lw.Request) { fmt.Println("request", req.Path, "watch:", req.Watch) },
		Frame: func(t lw.EventType, _ int) { fmt.Println("received", t) },
		Event: func(event lw.Event[lw.Keyed]) { fmt.Println("event", event.Type) },
	}
	ctx, stop := context.WithCancel(lw.WithTrace(context.Background(), trace))
	defer stop()
	for event := range lw.ListAndWatch(ctx, pods, &lw.Options{NoStreamingList: true}) {
		if event.Type == lw.WatchStarted {
			stop()
		}
	}
	// Output:
	// request /api/v1/namespaces/default/pods watch: false
	// received ADDED
	// event LIST_STARTED
	// event ADDED
	// event SYNCED
	// request /api/v1/namespaces/default/pods watch: true
	// event WATCH_STARTED
}

// A StatusError contains the server's Status and matches errors such as ErrForbidden.
func ExampleStatusError() {
	server, pods, end := serve()
	defer end()
	server.Fail(nil, -1, lwtest.Refuse(&lw.StatusError{Code: http.StatusForbidden, Reason: "Forbidden", Message: "pods is forbidden"}))
	for event := range lw.ListAndWatch(context.Background(), pods, &lw.Options{StopOn: lw.IsPermanent}) {
		status, ok := errors.AsType[*lw.StatusError](event.Interruption.Err)
		fmt.Println(ok, status.Code, status.Reason, errors.Is(status, lw.ErrForbidden))
		fmt.Println(status)
	}
	// Output:
	// true 403 Forbidden true
	// the server answered 403 Forbidden: pods is forbidden
}

// counting is a transport that wraps another transport and counts its watches.
type counting struct {
	lw.Transport
	watches int
}

func (c *counting) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	if req.Watch {
		c.watches++
	}
	return c.Transport.Open(ctx, req)
}

// A Transport can wrap another Transport.
func ExampleTransport() {
	server, _, end := serve("web-0")
	defer end()
	base, err := lwhttp.New(server.URL, nil)
	if err != nil {
		panic(err)
	}
	defer base.Close()
	transport := &counting{Transport: base}
	pods, err := lw.NewClient(transport, lw.Pods("default"), lw.RawCodec{}, nil)
	if err != nil {
		panic(err)
	}
	for event := range lw.ListAndWatch(context.Background(), pods, &lw.Options{NoStreamingList: true}) {
		if event.Type == lw.WatchStarted && transport.watches == 2 {
			break
		} else if event.Type == lw.WatchStarted {
			server.CloseWatches()
		}
	}
	fmt.Println(transport.watches, "watches")
	// Output: 2 watches
}

// List reads one page of a list.
func ExampleClient_List() {
	_, pods, end := serve("web-0", "web-1", "web-2")
	defer end()
	page := pods.List(context.Background(), lw.ListOptions{Limit: 2})
	for pod, err := range page.Objects {
		if err != nil {
			panic(err)
		}
		fmt.Println(pod.GetName())
	}
	fmt.Println("resourceVersion", page.ResourceVersion, "with", page.RemainingItemCount, "more objects and a continue token:", page.Continue != "")
	// Output:
	// web-0
	// web-1
	// resourceVersion 4 with 1 more objects and a continue token: true
}

// Watch yields events until the server closes the watch.
func ExampleClient_Watch() {
	server, pods, end := serve("web-0")
	defer end()
	for event, err := range pods.Watch(context.Background(), lw.ListOptions{ResourceVersion: "2"}) {
		if err != nil {
			panic(err)
		}
		switch event.Type {
		case lw.WatchStarted: // the response has arrived
			put(server, "web-0", "Running")
		case lw.Modified:
			fmt.Println(event.Object.GetName(), event.Object.Get("status.phase"), event.ResourceVersion)
			server.CloseWatches()
		}
	}
	// Output: web-0 Running 3
}
