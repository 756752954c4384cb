//go:build js

// Command bundle is the smallest program that uses the engine and the cache: what a page would load. make size weighs it.
package main

import (
	"context"
	"errors"
	"io"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

type none struct{}

func (none) Open(context.Context, *lw.Request) (io.ReadCloser, error) {
	return nil, errors.New("no transport")
}

func main() {
	client, err := lw.NewClient(none{}, lw.Pods(""), lw.RawCodec{}, nil)
	if err != nil {
		panic(err)
	}
	reflector := cache.NewReflector(client, nil)
	for event, deltas := range reflector.Deltas(context.Background()) {
		println(event.Type.String(), len(deltas), reflector.Store().Len())
	}
}
