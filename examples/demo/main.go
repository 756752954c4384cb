// Command demo shows the whole of it on one machine: an embedded API server with a living cluster, the dashboard of
// examples/browser beside it, and lwcat, which prints what happens to its Pods. On the way the connections are dropped, and
// once so that a new list is needed. In the end it compares a store that followed all along with the server.
//
//	go build -o bin/lwcat ./cmd/lwcat && go run ./examples/demo -duration 10s
//
// With -server it serves the dashboard alone, for a cluster elsewhere.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

func main() {
	duration := flag.Duration("duration", 0, "how long; 0 means until ^C")
	seed := flag.Uint64("seed", 1, "of the cluster's life")
	lwcat := flag.String("lwcat", "bin/lwcat", "the program that prints")
	folder := flag.String("dashboard", "examples/browser", "the folder of the dashboard")
	server := flag.String("server", "", "a cluster elsewhere, which the dashboard shows in place of the embedded one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, *duration)
		defer cancel()
	}
	run := func() error { return demo(ctx, *duration, *seed, *lwcat, *folder) }
	if *server != "" {
		run = func() error { return realCluster(ctx, *server, *folder) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func demo(ctx context.Context, duration time.Duration, seed uint64, lwcat, folder string) error {
	if _, err := os.Stat(lwcat); err != nil {
		return fmt.Errorf("%w: make demo builds it, or go build -o %s ./cmd/lwcat", err, lwcat)
	}
	server, err := lwtest.Start(nil)
	if err != nil {
		return err
	}
	defer server.Close()
	address, endDashboard, err := dashboard(folder, server)
	if err != nil {
		return err
	}
	defer endDashboard()
	fmt.Printf("The dashboard is on %s\n\nIt shows a living cluster in an API server on %s. Try, in another terminal:\n\n    %s -s %s -A deploy.apps\n\n",
		address, server.URL, lwcat, server.URL)

	// What lives until the end: the cluster, the accidents, and the program that prints.
	alive, end := context.WithCancel(ctx)
	defer end()
	var living sync.WaitGroup
	living.Go(func() { server.RunDemo(alive, &lwtest.DemoOptions{Seed: seed}) })
	living.Go(func() { accidents(alive, server, duration) })
	printing := make(chan error, 1)
	go func() { printing <- printPods(alive, lwcat, server.URL) }()

	// A store of our own outlives them, to see the last of their writes.
	following, enough := context.WithCancel(context.Background())
	defer enough()
	f, err := follow(following, server.URL)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		end()
		err = <-printing
	case err = <-printing: // it should not end by itself
		end()
		err = errors.Join(err, errors.New("lwcat ended early"))
	}
	living.Wait()
	equal := f.catchUp(server)
	enough()
	<-f.done
	fmt.Printf("\n%d events seen, %d interruptions, %d relists; store equal to server: %s (%d pods)\n",
		f.events.Load(), f.breaks.Load(), f.relists.Load(), map[bool]string{true: "yes", false: "NO"}[equal], f.store.Len())
	if err == nil && !equal {
		err = errors.New("the store differs from the server")
	}
	return err
}

// accidents happen now and then: a dropped connection, and each second time versions that are too old afterwards. Without a
// duration they leave the time after which a client takes a server for sound again, else its delays would grow and grow.
func accidents(ctx context.Context, server *lwtest.Server, duration time.Duration) {
	first, every := 15*time.Second, 150*time.Second
	if duration > 0 {
		first, every = duration/4, duration/4
	}
	next := time.NewTimer(first)
	defer next.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		next.Reset(every)
		server.DropConnections()
		if n%2 == 1 {
			server.Compact()
		}
	}
}

// printPods runs lwcat until ctx ends.
func printPods(ctx context.Context, lwcat, url string) error {
	cmd := exec.CommandContext(ctx, lwcat, "--server", url, "-A", "-o", "line", "pods")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() != nil && exit.ExitCode() == 130 {
		return nil
	}
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return nil
	}
	return err
}

// follower keeps a store equal to the server's Pods, and counts.
type follower struct {
	store                   *cache.Store[*lw.Object]
	events, breaks, relists atomic.Int64
	done                    chan struct{}
}

func follow(ctx context.Context, url string) (*follower, error) {
	transport, err := lwhttp.New(url, nil)
	if err != nil {
		return nil, err
	}
	client, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	if err != nil {
		return nil, err
	}
	reflector := cache.NewReflector(client, nil)
	f := &follower{store: reflector.Store(), done: make(chan struct{})}
	go func() {
		defer close(f.done)
		defer transport.Close()
		for event, deltas := range reflector.Deltas(ctx) {
			f.events.Add(int64(len(deltas)))
			if event.Break != nil {
				f.breaks.Add(1)
				if event.Break.Relist {
					f.relists.Add(1)
				}
			}
		}
	}()
	return f, nil
}

// catchUp waits until the store holds what the server does, at most for the longest delay between two tries.
func (f *follower) catchUp(server *lwtest.Server) bool {
	_, want := server.State("pods")
	versions := make(map[string]string, len(want))
	for key, object := range want {
		versions[key] = object.ResourceVersion
	}
	deadline := time.After(time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		got := map[string]string{}
		for object := range f.store.All() {
			got[object.Key().String()] = object.GetResourceVersion()
		}
		if maps.Equal(got, versions) {
			return true
		}
		select {
		case <-deadline:
			return false
		case <-tick.C:
		}
	}
}
