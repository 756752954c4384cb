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
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/seed-6d2a410a/listwatch/examples/internal/cluster"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
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
	living.Go(func() { cluster.Run(alive, server, seed) })
	living.Go(func() { disturb(alive, server, duration) })
	printing := make(chan error, 1)
	go func() { printing <- printPods(alive, lwcat, server.URL) }()

	f, err := follow(server.URL)
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
	return errors.Join(err, f.finish(server))
}

// disturb drops connections and forgets history until ctx ends, about four times within duration.
func disturb(ctx context.Context, server *lwtest.Server, duration time.Duration) {
	first, every := duration/4, duration/4
	if duration == 0 {
		first, every = 15*time.Second, 150*time.Second // a client resets its backoff after 150 s without a fault
	}
	cluster.Disturb(ctx, server, first, every)
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
