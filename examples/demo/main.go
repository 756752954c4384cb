// Command demo demonstrates listwatch without a real cluster. It runs an embedded API server with a simulated cluster,
// the dashboard of examples/browser, and lwcat. The demo drops connections and restarts the server without its history,
// so that clients must relist. At the end, it compares the store of a client with the server.
//
//	go build -o bin/lwcat ./cmd/lwcat && go run ./examples/demo -duration 10s
//
// With -server, it only serves the dashboard, for an existing cluster.
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
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

func main() {
	duration := flag.Duration("duration", 0, "duration of the demo; 0 means until ^C")
	server := flag.String("server", "", "URL of an external cluster for the dashboard; disables the embedded cluster")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, *duration)
		defer cancel()
	}
	run := func() error { return demo(ctx, *duration) }
	if *server != "" {
		run = func() error { return realCluster(ctx, *server) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// lwcat is the path of the lwcat binary, relative to the root of the repository.
const lwcat = "bin/lwcat"

func demo(ctx context.Context, duration time.Duration) error {
	if _, err := os.Stat(lwcat); err != nil {
		return fmt.Errorf("%w; run make demo or go build -o %s ./cmd/lwcat", err, lwcat)
	}
	server, err := startServer()
	if err != nil {
		return err
	}
	defer server.Close()
	address, endDashboard, err := dashboard(server)
	if err != nil {
		return err
	}
	defer endDashboard()
	fmt.Printf("Dashboard: %s\n\nIt shows a simulated cluster in an API server at %s. Run this command in another terminal:\n\n    %s -s %s -A deploy.apps\n\n",
		address, server.URL, lwcat, server.URL)

	// The simulated cluster, the failures and lwcat run until end is called.
	alive, end := context.WithCancel(ctx)
	defer end()
	var living sync.WaitGroup
	living.Go(func() { cluster.Run(alive, server, 1) })
	disturbing := make(chan error, 1)
	go func() { disturbing <- disturb(alive, server, duration) }()
	printing := make(chan error, 1)
	go func() { printing <- printPods(alive, server.URL) }()

	f, err := follow(server.URL)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		end()
		err = <-printing
	case err = <-printing: // lwcat must run until ctx is done
		end()
		err = errors.Join(err, errors.New("lwcat exited early"))
	}
	living.Wait()
	return errors.Join(err, <-disturbing, f.finish(server))
}

// startServer starts the embedded API server. Its resourceVersions start at the current time, so that the
// resourceVersions of earlier runs have expired. Otherwise, an open page could resume its watch and keep the objects of
// an earlier run.
func startServer() (*lwtest.Server, error) {
	return lwtest.Start(&lwtest.Options{Revision: time.Now().Unix()})
}

// outage is how long disturb stops the server. The simulated cluster still changes objects, so clients must catch up.
const outage = 700 * time.Millisecond

// disturb causes failures until ctx is done. It alternately drops all connections and restarts the server. A restart
// discards the history, so that clients must relist. A failure happens after every quarter of duration. If duration is
// 0, the first failure happens after 15 seconds, and another every 150 seconds.
func disturb(ctx context.Context, server *lwtest.Server, duration time.Duration) error {
	first, every := duration/4, duration/4
	if duration == 0 {
		first, every = 15*time.Second, 150*time.Second // clients reset their backoff after 150 seconds
	}
	next := time.NewTimer(first)
	defer next.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-next.C:
		}
		next.Reset(every)
		if n%2 == 0 {
			server.DropConnections()
			continue
		}
		server.Close()
		select {
		case <-ctx.Done():
		case <-time.After(outage):
		}
		if err := server.Restart(); err != nil {
			return err
		}
	}
}

// printPods runs lwcat until ctx is done. It returns an error if lwcat exits earlier or with a code other than 130.
func printPods(ctx context.Context, url string) error {
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
