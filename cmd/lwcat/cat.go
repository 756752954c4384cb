package main

import (
	"context"
	"io"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/fallback"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	lwws "github.com/seed-6d2a410a/listwatch/transport/ws"
)

// cat prints the events of the collections that the command line names, until it is done or refused.
func cat(ctx context.Context, c *config, stdout, stderr io.Writer) error {
	over, err := lwhttp.New(c.where.server, &c.where.connect)
	if err != nil {
		return err
	}
	defer over.Close()
	transport := c.where.over(over)
	resources, err := resolve(ctx, transport, &c.what)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := newPrinter(c.how.format, stdout)
	var streams sync.WaitGroup
	for _, resource := range resources {
		streams.Go(func() {
			s := &stream{config: c, name: resource.String(), kind: nameOf(resource), out: out, stderr: stderr}
			if err := s.run(ctx, transport, resource); err != nil {
				cancel(err) // the first one ends them all
			}
		})
	}
	streams.Wait()
	return context.Cause(ctx)
}

// over returns the transport that the command line names.
func (w *where) over(http *lwhttp.Transport) lw.Transport {
	switch w.transport {
	case "ws":
		return lwws.New(http, nil)
	case "auto":
		return fallback.New(http, lwws.New(http, nil))
	}
	return http
}

// nameOf returns what a collection is called where its namespace does not matter: "pods", "deployments.apps", or its path.
func nameOf(r lw.Resource) string {
	switch {
	case r.Raw != "":
		return r.Raw
	case r.Group != "":
		return r.Plural + "." + r.Group
	}
	return r.Plural
}
