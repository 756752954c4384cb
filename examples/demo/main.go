// Command demo demonstrates listwatch without a real cluster. It runs an embedded API server with a simulated cluster,
// the dashboard of examples/browser, and lwcat. The demo drops connections and restarts the server without its history,
// so that clients must relist. At the end, it compares the store of a client with the server.
//
//	go build -o bin/lwcat ./cmd/lwcat && go run ./examples/demo -duration 10s
//
// With -server, -kubeconfig or -context, it only serves the dashboard, for an existing cluster. It uses the credentials
// of the kubeconfig, like kubectl.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed-6d2a410a/listwatch/examples/internal/cluster"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
)

func main() {
	duration := flag.Duration("duration", 0, "duration of the demo; 0 means until ^C")
	var own kubeconfig.Options
	flag.StringVar(&own.Server, "server", "", "show the cluster at this URL, with the credentials of the kubeconfig, instead of the embedded cluster")
	flag.StringVar(&own.Path, "kubeconfig", "", "show the cluster of this kubeconfig instead of the embedded cluster")
	flag.StringVar(&own.Context, "context", "", "show the cluster of this context instead of the embedded cluster")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(*duration, math.MaxInt64))
	defer cancel()
	run := func() error { return demo(ctx, *duration) }
	if own.Server+own.Path+own.Context != "" {
		run = func() error { return ownCluster(ctx, &own) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// lwcat is the path of the lwcat binary, relative to the root of the repository.
const lwcat = "bin/lwcat"

func demo(ctx context.Context, duration time.Duration) error {
	server, err := startServer()
	if err != nil {
		return err
	}
	defer server.Close()
	listener, err := listen()
	if err != nil {
		return err
	}
	defer serve(listener, withPage(server))()
	address := "http://" + listener.Addr().String() + "/ui/"
	fmt.Printf("Dashboard: %s\n\nIt shows a simulated cluster in an API server at %s. Run this command in another terminal:\n\n    %s -s %s -A deploy.apps\n\n",
		address, server.URL, lwcat, server.URL)

	// The simulated cluster, the failures and lwcat run until end is called.
	alive, end := context.WithCancel(ctx)
	defer end()
	var simulating sync.WaitGroup
	simulating.Go(func() { cluster.Run(alive, server, 1) })
	disturbing := make(chan error, 1)
	go func() { disturbing <- disturb(alive, server, duration) }()
	printing := make(chan error, 1)
	go func() { printing <- printPods(alive, server.URL, "Dashboard: "+address) }()

	pods, stop, err := follow(server.URL)
	if err != nil {
		return err
	}
	defer stop()
	select {
	case <-ctx.Done():
		end()
		err = <-printing
	case err = <-printing: // lwcat must run until ctx is done
		end()
		err = errors.Join(err, errors.New("lwcat exited early"))
	}
	simulating.Wait() // compare needs a server that no longer changes
	return errors.Join(err, <-disturbing, compare(pods, server))
}

// startServer starts the embedded API server. Its resourceVersions start at the current time in seconds, so that the
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
	wait, every := duration/4, duration/4
	if duration == 0 {
		wait, every = 15*time.Second, 150*time.Second // a watch that lasts two minutes resets its client's backoff
	}
	for n := 0; pause(ctx, wait); n++ {
		wait = every
		if n%2 == 0 {
			server.DropConnections()
			continue
		}
		server.Close()
		pause(ctx, outage)
		if err := server.Restart(); err != nil {
			return err
		}
	}
	return nil
}

// pause waits for d, or until ctx is done. It returns false if ctx is done.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// footer writes to a terminal and keeps a line below the output.
type footer struct {
	line  string
	drawn bool
}

func (f *footer) Write(p []byte) (int, error) {
	text := string(p)
	if f.drawn {
		text = "\r\x1b[K" + text // erases the line
	}
	if f.drawn = strings.HasSuffix(text, "\n"); f.drawn {
		text += f.line
	}
	_, err := os.Stdout.WriteString(text)
	return len(p), err
}

// printPods runs lwcat until ctx is done. If the output is a terminal, the line "below" stays visible under the output
// of lwcat. printPods returns an error if lwcat exits earlier or with a code other than 130, which means that SIGINT ended it.
func printPods(ctx context.Context, url, below string) error {
	cmd := exec.CommandContext(ctx, lwcat, "--server", url, "-A", "-o", "line", "pods")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if info, err := os.Stdout.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		both := &footer{line: below}
		cmd.Stdout, cmd.Stderr = both, both
		cmd.Args = append(cmd.Args, "--color")
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	// If ctx was done before lwcat started, Run returns ctx's error.
	if ctx.Err() != nil && (cmd.ProcessState.ExitCode() == 130 || errors.Is(err, ctx.Err())) {
		return nil
	}
	return err
}
