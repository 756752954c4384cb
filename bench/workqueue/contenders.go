package main

import (
	"context"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache/workqueue"
	"golang.org/x/time/rate"
	clientgo "k8s.io/client-go/util/workqueue"
)

const base, most = time.Millisecond, time.Second

type ours struct{ q *workqueue.Queue[string] }

func newOurs() ours {
	return ours{workqueue.New[string](&workqueue.Options{BaseDelay: base, MaxDelay: most, Limiter: rate.NewLimiter(rate.Inf, 0)})}
}

func (c ours) add(key string)                           { c.q.Add(key) }
func (c ours) addAfter(key string, delay time.Duration) { c.q.AddAfter(key, delay) }
func (c ours) retry(key string)                         { c.q.Retry(key) }
func (c ours) close()                                   { c.q.Close() }

func (c ours) work(ctx context.Context, body func(string)) {
	for key := range c.q.Keys(ctx) {
		body(key)
	}
}

// theirs is client-go's queue with the limiter that most controllers use, but for the limit that all keys share.
type theirs struct {
	q clientgo.TypedRateLimitingInterface[string]
}

func newClientGo() theirs {
	limiter := clientgo.NewTypedItemExponentialFailureRateLimiter[string](base, most)
	return theirs{q: clientgo.NewTypedRateLimitingQueue[string](limiter)}
}

func (c theirs) add(key string)                           { c.q.Add(key) }
func (c theirs) addAfter(key string, delay time.Duration) { c.q.AddAfter(key, delay) }
func (c theirs) retry(key string)                         { c.q.AddRateLimited(key) }
func (c theirs) close()                                   { c.q.ShutDown() }

func (c theirs) work(ctx context.Context, body func(string)) {
	defer context.AfterFunc(ctx, c.q.ShutDown)()
	for {
		key, shutdown := c.q.Get()
		if shutdown {
			return
		}
		before := c.q.NumRequeues(key)
		body(key)
		if c.q.NumRequeues(key) == before {
			c.q.Forget(key)
		}
		c.q.Done(key)
	}
}
