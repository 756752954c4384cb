// Command demo serves Prometheus metrics of a stream of Pods. It runs an embedded API server with a simulated cluster.
// Every 10 seconds, it drops all connections or restarts the server without its history. The phase of the stream is
// then stale until the stream watches again.
//
//	go run ./demo -listen 127.0.0.1:2112
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/examples/internal/cluster"
	"github.com/seed-6d2a410a/listwatch/examples/metrics/prometheus"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:2112", "listen address for /metrics")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := demo(ctx, *listen); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func demo(ctx context.Context, listen string) error {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	server, err := lwtest.Start(nil)
	if err != nil {
		return err
	}
	defer server.Close()
	transport, err := lwhttp.New(server.URL, nil)
	if err != nil {
		return err
	}
	defer transport.Close()
	pods, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	if err != nil {
		return err
	}
	registry := client.NewRegistry()
	trace, err := prometheus.Trace(registry, "pods")
	if err != nil {
		return err
	}

	var running sync.WaitGroup
	defer running.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end()
	running.Go(func() { cluster.Run(ctx, server, 1) })
	running.Go(func() {
		if err := cluster.Disturb(ctx, server, 10*time.Second, 10*time.Second); err != nil {
			log.Print(err)
		}
	})
	running.Go(func() { _ = cache.NewReflector(pods, nil).Run(lw.WithTrace(ctx, trace)) }) // returns only when ctx is done
	return serve(ctx, listener, registry)
}

func serve(ctx context.Context, listener net.Listener, registry *client.Registry) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	fmt.Printf("curl -s http://%s/metrics\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
