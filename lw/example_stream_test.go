//go:build !js

package lw_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// The stream says why it broke, and how it goes on. Here the server ends the watch, and calls the next one too old.
func ExampleInterruption() {
	server, pods, end := serve("web-0")
	defer end()
	lives := 0
	for event := range lw.ListAndWatch(context.Background(), pods, nil) {
		switch event.Type {
		case lw.WatchStarted:
			fmt.Println("live from version", event.ResourceVersion)
			if lives++; lives == 2 {
				return
			}
			server.Fail(lwtest.Watches, 1, lwtest.Gone())
			server.CloseWatches()
		case lw.Interrupted:
			cause := "something else"
			switch {
			case errors.Is(event.Interruption.Err, lw.ErrWatchClosed):
				cause = "a good end"
			case errors.Is(event.Interruption.Err, lw.ErrExpired):
				cause = "too old"
			}
			fmt.Println(cause+"; a list follows:", event.Interruption.Relist)
		case lw.Synced:
			fmt.Println("listed at version", event.ResourceVersion)
		}
	}
	// Output:
	// listed at version 2
	// live from version 2
	// a good end; a list follows: false
	// too old; a list follows: true
	// listed at version 2
	// live from version 2
}

// Who has the state of a version already is told what has happened since.
func ExampleOptions_resumeFrom() {
	server, pods, end := serve("web-0")
	defer end()
	version := put(server, "web-1", "Pending")
	put(server, "web-0", "Running")
	for event := range lw.ListAndWatch(context.Background(), pods, &lw.Options{ResumeFrom: version}) {
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

// A trace sees what happens beneath a stream, for metrics and logs.
func ExampleTrace() {
	_, pods, end := serve("web-0")
	defer end()
	trace := &lw.Trace{
		Open:   func(req *lw.Request) { fmt.Println("asks for", req.Path, "as a watch:", req.Watch) },
		Frame:  func(t lw.EventType, _ int) { fmt.Println("reads", t) },
		Synced: func(version string) { fmt.Println("has a list of version", version) },
	}
	ctx, stop := context.WithCancel(lw.WithTrace(context.Background(), trace))
	defer stop()
	for event := range lw.ListAndWatch(ctx, pods, &lw.Options{NoStreamingList: true}) {
		if event.Type == lw.WatchStarted {
			stop()
		}
	}
	// Output:
	// asks for /api/v1/namespaces/default/pods as a watch: false
	// reads ADDED
	// has a list of version 2
	// asks for /api/v1/namespaces/default/pods as a watch: true
}

// What the server said is a type, with all that it said, and matches what it stands for.
func ExampleStatusError() {
	server, pods, end := serve()
	defer end()
	server.Fail(lwtest.Any, -1, lwtest.Refuse(lw.Status{Code: http.StatusForbidden, Reason: "Forbidden", Message: "pods is forbidden"}))
	for event := range lw.ListAndWatch(context.Background(), pods, &lw.Options{StopOn: lw.IsPermanent}) {
		status, ok := errors.AsType[*lw.StatusError](event.Interruption.Err)
		fmt.Println(ok, status.Code, status.Reason, errors.Is(status, lw.ErrForbidden))
		fmt.Println(status)
	}
	// Output:
	// true 403 Forbidden true
	// the server answered 403 Forbidden: pods is forbidden
}

// counting is a transport around another one.
type counting struct {
	lw.Transport
	watches int
}

func (c *counting) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	if req.Watch {
		c.watches++
	}
	return c.Transport.Open(ctx, req)
}

// A transport opens a GET, and returns its body. One may be put around another.
func ExampleTransport() {
	server, _, end := serve("web-0")
	defer end()
	over, err := lwhttp.New(server.URL, nil)
	if err != nil {
		panic(err)
	}
	defer over.Close()
	transport := &counting{Transport: over}
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

// One request, one page: for who looks once.
func ExampleClient_List() {
	_, pods, end := serve("web-0", "web-1", "web-2")
	defer end()
	var meta lw.ListMeta
	for pod, err := range pods.List(context.Background(), lw.ListOptions{Limit: 2}, &meta) {
		if err != nil {
			panic(err)
		}
		fmt.Println(pod.GetName())
	}
	fmt.Println("at version", meta.ResourceVersion, "with", meta.RemainingItemCount, "more behind the token:", meta.Continue != "")
	// Output:
	// web-0
	// web-1
	// at version 4 with 1 more behind the token: true
}

// One watch, until the server ends it.
func ExampleClient_Watch() {
	server, pods, end := serve("web-0")
	defer end()
	for event, err := range pods.Watch(context.Background(), lw.WatchOptions{ResourceVersion: "2"}) {
		if err != nil {
			panic(err)
		}
		switch event.Type {
		case lw.WatchStarted: // the answer is there
			put(server, "web-0", "Running")
		case lw.Modified:
			fmt.Println(event.Object.GetName(), event.Object.Get("status.phase"), event.ResourceVersion)
			server.CloseWatches()
		}
	}
	// Output: web-0 Running 3
}
