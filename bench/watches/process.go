package main

import (
	"context"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

// withServer carries out a task in a process of its own, against a server in another.
func withServer(ctx context.Context, t task) (r result, err error) {
	server, err := measure.Start(ctx, "server", t.Transport)
	if err != nil {
		return r, err
	}
	defer server.Close()
	if err := server.Hear(&t.Server); err != nil {
		return r, err
	}
	return r, measure.Apart(ctx, "client", t, &r)
}
