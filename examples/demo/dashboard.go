package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/seed-6d2a410a/listwatch/examples/browser"
)

// preferred is the dashboard's address, unless another process uses the port. The port is fixed, so that an open page
// reconnects when the demo restarts.
const preferred = "127.0.0.1:8484"

// folder is the path of the dashboard's files, relative to the root of the repository.
const folder = "examples/browser"

// dashboard serves the dashboard under /ui/ and, unless api is nil, api under all other paths. It returns the
// dashboard's URL. The caller must call end.
func dashboard(api http.Handler) (address string, end func() error, err error) {
	listener, err := net.Listen("tcp", preferred)
	if err != nil {
		if listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return "", nil, err
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/ui/", http.StripPrefix("/ui/", browser.Handler(folder)))
	mux.Handle("/{$}", http.RedirectHandler("/ui/", http.StatusFound))
	if api != nil {
		mux.Handle("/", api)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener)
	return "http://" + listener.Addr().String() + "/ui/", server.Close, nil
}

const explanation = `Dashboard: %[1]s

The dashboard shows %[2]s if that server allows requests from this origin. It asks for a token and keeps it only in memory.
To allow the origin, start kube-apiserver with this flag:

    --cors-allowed-origins='^http://127\.0\.0\.1(:|$)'

If you cannot change the flags, use kubectl proxy. It needs no CORS and has the permissions of kubectl:

    kubectl proxy --www=%[3]s --www-prefix=/ui/

Then open http://127.0.0.1:8001/ui/

Press ^C to stop.
`

// realCluster serves only the dashboard, for an existing API server, until ctx is done.
func realCluster(ctx context.Context, server string) error {
	if parsed, err := url.Parse(server); err != nil || parsed.Host == "" || parsed.User != nil {
		return errors.New("-server must be a URL without a user name, for example https://host:6443")
	}
	address, end, err := dashboard(nil)
	if err != nil {
		return err
	}
	defer end()
	fmt.Printf(explanation, address+"?server="+url.QueryEscape(server), server, folder)
	<-ctx.Done()
	return nil
}
