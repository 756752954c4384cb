package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

// withServer carries out a task in a process of its own, against a server in another.
func withServer(ctx context.Context, t task) (r result, err error) {
	ctx, stop := context.WithCancel(ctx)
	server := measure.Process(ctx, "server", t.Transport)
	_, badInput := server.StdinPipe() // ends with this process, however that ends
	out, badOutput := server.StdoutPipe()
	if err := errors.Join(badInput, badOutput, server.Start()); err != nil {
		stop()
		return r, err
	}
	defer func() {
		stop()
		_ = server.Wait()
	}()
	if err := json.NewDecoder(out).Decode(&t.Server); err != nil {
		return r, fmt.Errorf("the server does not start: %w", err)
	}
	return r, measure.Apart(ctx, "client", t, &r)
}
