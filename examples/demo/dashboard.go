package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/seed-6d2a410a/listwatch/examples/browser"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
)

// preferred is the dashboard's usual address. Its port is fixed, so that an open page reconnects when the demo
// restarts. If another process uses the port, the dashboard uses another port.
const preferred = "127.0.0.1:8484"

// listen listens at the preferred address, or at a free port.
func listen() (net.Listener, error) {
	if listener, err := net.Listen("tcp", preferred); err == nil {
		return listener, nil
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// serve starts an HTTP server. The caller must call end.
func serve(listener net.Listener, handler http.Handler) (end func() error) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener)
	return server.Close
}

// page serves the dashboard's files under /ui/. The working directory must be the root of the repository.
func page() http.Handler { return http.StripPrefix("/ui/", browser.Handler("examples/browser")) }

// withPage serves the dashboard under /ui/, and api under all other paths.
func withPage(api http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/ui/", page())
	mux.Handle("/{$}", http.RedirectHandler("/ui/", http.StatusFound))
	mux.Handle("/", api)
	return mux
}

// explanation is a format for the page's host, secret and name, the URL of the API server, and the user.
const explanation = `Dashboard: http://%s/%s/ui/?name=%s

It shows the cluster at %s through a proxy on this computer.
The proxy sends the credentials of your kubeconfig (%s) with each request. It accepts only get, list, watch and discovery.
It refuses all other requests, such as writes, exec, attach, portforward and proxy.
Anyone who knows the URL and runs programs on this computer can read the cluster, so keep the URL secret.

Press ^C to stop.
`

// ownCluster serves the dashboard for a cluster from the kubeconfig until ctx is done.
func ownCluster(ctx context.Context, opts *kubeconfig.Options) error {
	config, err := kubeconfig.Load(opts)
	if err != nil {
		return err
	}
	transport, err := lwhttp.New(config.Server, config.HTTP)
	if err != nil {
		return err
	}
	defer transport.Close()
	listener, err := listen()
	if err != nil {
		return err
	}
	guard := newProxy(listener.Addr().String(), transport)
	defer serve(listener, guard)()
	name := url.QueryEscape(cmp.Or(config.Context, config.Server)) // the page shows it instead of the secret path
	fmt.Printf(explanation, guard.host, guard.secret, name, config.Server, cmp.Or(config.User, "no user"))
	<-ctx.Done()
	return nil
}
