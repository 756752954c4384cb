// Command server runs an empty embedded API server, to try things on, and makes it fail when told to.
//
//	go run ./examples/server
//
// It answers lists, watches and writes like a kube-apiserver (see lw/lwtest), and beside it, at another port, a POST to
//
//	/drop      resets all connections
//	/close     ends all watches in good order
//	/compact   makes all older resource versions too old
//	/stall     lets nothing more through on any watch, until /go-on
//	/restart   is kill -9, and a start from the same data
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

	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8485", "where the API server listens")
	control := flag.String("control", "127.0.0.1:8486", "where it is told to fail")
	bookmarks := flag.Duration("bookmarks", time.Minute, "the time between two bookmarks of a watch")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, &lwtest.Options{Addr: *addr, BookmarkInterval: *bookmarks}, *control); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, opts *lwtest.Options, control string) error {
	server, err := lwtest.Start(opts)
	if err != nil {
		return err
	}
	defer server.Close()
	listener, err := net.Listen("tcp", control)
	if err != nil {
		return err
	}
	fmt.Printf("The API server is on %s\n", server.URL)
	fmt.Printf("It fails by curl -X POST http://%s/drop, or /close, /compact, /stall, /go-on, /restart\n", listener.Addr())
	told := &http.Server{Handler: failing(server), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = told.Close() // ends Serve
	}()
	if err := told.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// failing does what it is told.
func failing(server *lwtest.Server) http.Handler {
	mux := http.NewServeMux()
	on := func(path string, do func() error) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, _ *http.Request) {
			if err := do(); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		})
	}
	always := func(do func()) func() error { return func() error { do(); return nil } }
	on("/drop", always(server.DropConnections))
	on("/close", always(server.CloseWatches))
	on("/compact", always(server.Compact))
	on("/stall", always(func() { server.StallWatches(true) }))
	on("/go-on", always(func() { server.StallWatches(false) }))
	on("/restart", func() error { server.Stop(); return server.Restart() })
	return mux
}
