// Command server runs an API server for experiments, for example to see how a client reacts to faults. The server starts
// without objects.
//
//	go run ./examples/server
//
// The server responds to lists, watches and writes like a kube-apiserver; see lwtest. A POST request to a second
// port injects a fault:
//
//	/drop      drops all connections
//	/close     closes all watches cleanly
//	/compact   expires all earlier resourceVersions
//	/stall     stops all watches from sending data until /go-on
//	/restart   kills the server, restarts it with the same data, and expires all earlier resourceVersions
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/seed-6d2a410a/listwatch/lwtest"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8485", "listen address of the API server")
	control := flag.String("control", "127.0.0.1:8486", "listen address for fault injection")
	bookmarks := flag.Duration("bookmarks", time.Minute, "interval between the bookmarks of a watch")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *addr, *control, *bookmarks); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr, control string, bookmarks time.Duration) error {
	api, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	server, err := lwtest.Start(&lwtest.Options{Listener: api, BookmarkInterval: bookmarks})
	if err != nil {
		return err
	}
	defer server.Close()
	listener, err := net.Listen("tcp", control)
	if err != nil {
		return err
	}
	fmt.Printf("API server: %s\n", server.URL)
	fmt.Printf("To inject a fault: curl -X POST http://%s/drop (or /close, /compact, /stall, /go-on, /restart)\n", listener.Addr())
	faults := &http.Server{Handler: failing(server), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = faults.Close() // makes Serve return
	}()
	if err := faults.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// failing returns the handler that injects faults.
func failing(server *lwtest.Server) http.Handler {
	mux := http.NewServeMux()
	on := func(path string, do func() error) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, _ *http.Request) {
			if err := do(); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		})
	}
	// always adapts a function that cannot fail.
	always := func(do func()) func() error { return func() error { do(); return nil } }
	on("/drop", always(server.DropConnections))
	on("/close", always(server.CloseWatches))
	on("/compact", always(server.Compact))
	on("/stall", always(func() { server.StallWatches(true) }))
	on("/go-on", always(func() { server.StallWatches(false) }))
	on("/restart", func() error { server.Close(); return server.Restart() })
	return mux
}
