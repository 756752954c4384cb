package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// follow keeps a copy of the server's Pods. The caller must call stop, which blocks until the copy no longer changes.
func follow(url string) (pods *cache.Store[*lw.Object], stop func(), err error) {
	transport, err := lwhttp.New(url, nil)
	if err != nil {
		return nil, nil, err
	}
	client, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	if err != nil {
		return nil, nil, err
	}
	informer := cache.NewInformer(client, &lw.Options{Warn: slog.New(slog.DiscardHandler).Warn}) // the demo causes interruptions, so they are not logged
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- informer.Run(ctx) }()
	return informer.Store(), func() { cancel(); <-done; transport.Close() }, nil
}

// compare makes a last write, waits until the store has received it, and returns an error if the store differs from the
// server's Pods. It waits for up to a minute, which is the longest retry delay.
func compare(pods *cache.Store[*lw.Object], server *lwtest.Server) error {
	last, err := server.Put("pods", `{"metadata":{"name":"last"}}`)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err = pods.WaitFor(ctx, last.GetResourceVersion())
	_, stored := server.State("pods")
	equal := err == nil && pods.Len() == len(stored)
	for _, object := range pods.List() {
		other, exists := stored[lw.KeyOf(object).String()]
		equal = equal && exists && object.GetResourceVersion() == other.GetResourceVersion()
	}
	if !equal {
		return errors.New("the demo's own store of Pods differs from the server's Pods")
	}
	fmt.Printf("\nThe demo's own store of %d Pods matches the server's Pods.\n", len(stored))
	return nil
}
