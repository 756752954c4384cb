package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// follower keeps a copy of the server's Pods and counts changes, interruptions and relists. The caller must call finish
// after the last write.
type follower struct {
	store                   *cache.Store[*lw.Object]
	events, breaks, relists atomic.Int64
	stop                    context.CancelFunc
	done                    chan struct{}
}

func follow(url string) (*follower, error) {
	transport, err := lwhttp.New(url, nil)
	if err != nil {
		return nil, err
	}
	client, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	if err != nil {
		return nil, err
	}
	informer := cache.NewInformer(client, &lw.Options{Warn: slog.New(slog.DiscardHandler).Warn}) // the demo causes interruptions, so they are not logged
	ctx, stop := context.WithCancel(context.Background())
	f := &follower{store: informer.Store(), stop: stop, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		defer transport.Close()
		for event, changes := range informer.Follow(ctx) {
			f.events.Add(int64(len(changes)))
			if event.Interruption != nil {
				f.breaks.Add(1)
				if event.Interruption.Relist {
					f.relists.Add(1)
				}
			}
		}
	}()
	return f, nil
}

// finish makes a last write, waits until the store has received it, stops the follower and prints a summary. It returns
// an error if the store differs from the server's Pods. It waits for up to a minute, which is the longest retry delay.
func (f *follower) finish(server *lwtest.Server) error {
	last, err := server.Put("pods", `{"metadata":{"name":"last"}}`)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err = f.store.WaitFor(ctx, last.GetResourceVersion())
	f.stop()
	<-f.done
	_, pods := server.State("pods")
	equal := err == nil && f.store.Len() == len(pods)
	for _, object := range f.store.List() {
		stored, exists := pods[lw.KeyOf(object).String()]
		equal = equal && exists && object.GetResourceVersion() == stored.GetResourceVersion()
	}
	fmt.Printf("\nThe demo's own store of Pods received %d changes. Interruptions: %d. Relists: %d. Its %d Pods %s the server's Pods.\n",
		f.events.Load(), f.breaks.Load(), f.relists.Load(), f.store.Len(), map[bool]string{true: "match", false: "DIFFER from"}[equal])
	if !equal {
		return errors.New("the store differs from the server")
	}
	return nil
}
