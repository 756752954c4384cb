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

// preferred is where the dashboard is if nobody else is there, so that a page that is open finds the next run.
const preferred = "127.0.0.1:8484"

// dashboard serves the files of a folder under /ui/, and the API, if there is one, under all other paths. It returns the
// dashboard's URL, and what ends it.
func dashboard(folder string, api http.Handler) (address string, end func() error, err error) {
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

// The first line is for whoever reads nothing else.
const explanation = `The dashboard is on %[1]s

It shows %[2]s, if that lets pages of this origin ask: then it needs a token, which the page keeps in memory only.
A kube-apiserver allows the origin by

    --cors-allowed-origins='^http://127\.0\.0\.1(:|$)'

A cluster whose flags are not yours to set is shown through kubectl, with kubectl's own rights and without CORS:

    kubectl proxy --www=%[3]s --www-prefix=/ui/

and then on http://127.0.0.1:8001/ui/

^C ends this.
`

// realCluster serves the dashboard for a cluster elsewhere, until ctx ends.
func realCluster(ctx context.Context, server, folder string) error {
	if parsed, err := url.Parse(server); err != nil || parsed.Host == "" || parsed.User != nil {
		return errors.New("the server must be a URL like https://host:6443, without a user")
	}
	address, end, err := dashboard(folder, nil)
	if err != nil {
		return err
	}
	defer end()
	fmt.Printf(explanation, address+"?server="+url.QueryEscape(server), server, folder)
	<-ctx.Done()
	return nil
}
