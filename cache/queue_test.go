package cache

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// A slow handler receives one merged change per key. An object that was deleted and added again keeps two changes.
func TestCoalesce(t *testing.T) {
	for name, c := range map[string]struct{ events, want string }{
		"updates":                          {"~x@3 ~x@4 ~x@5", "~x@1>5"},
		"updated, then deleted":            {"~x@3 -x@4", "-x@4"},
		"deleted, then added":              {"-x@3 +x@4", "-x@3 +x@4"},
		"deleted, added, deleted":          {"-x@3 +x@4 -x@5", "-x@3"},
		"added, then updated":              {"+z@3 ~z@4", "+z@4"},
		"updates after a recreation":       {"-x@3 +x@4 ~x@5 ~x@6", "-x@3 +x@6"},
		"added, then deleted":              {"+z@3 ~z@4 -z@5 ~x@6", "~x@1>6"},
		"added, deleted, added":            {"+z@3 -z@4 ~x@5 +z@6", "~x@1>5 +z@6"},
		"merged change keeps its position": {"~x@3 ~y@4 ~x@5", "~x@1>5 ~y@2>4"},
		"two recreations":                  {"-x@3 +x@4 ~x@5 -x@6 +x@7", "-x@3 +x@7"},
		"recreated in Modified events":     {"~x@3#1 ~x@4#2 ~x@5#3", "-x@3? +x@5"},
	} {
		t.Run(name, func(t *testing.T) {
			withHarness(t, "x@1 y@2 w@2", func(t *testing.T, th *harness) {
				n := &log{}
				r := th.informer.Handle(n.handler(), nil)
				th.run()
				n.take()
				n.block = make(chan struct{})
				th.deliver("~w@3") // keeps the handler busy
				n.take()
				th.deliver(c.events)
				require.Equal(t, len(strings.Fields(c.want)), r.Len())
				close(n.block)
				synctest.Wait()
				require.Equal(t, c.want, n.take())
				require.Zero(t, r.Len())
			})
		})
	}
}

// Under Block, the stream and all other handlers must wait for a slow handler, and no changes may be lost.
func TestBlock(t *testing.T) {
	withHarness(t, "", func(t *testing.T, th *harness) {
		slow, other := &log{block: make(chan struct{})}, &log{}
		r := th.informer.Handle(slow.handler(), &HandlerOptions[*lw.Object]{Policy: Block, Capacity: 2})
		th.informer.Handle(other.handler(), &HandlerOptions[*lw.Object]{Policy: Unbounded})
		th.run()
		go th.send("+a@3 ~a@4 ~a@5 ~a@6 ~a@7 ~a@8")
		synctest.Wait()
		require.Equal(t, "+a@3 ~a@3>4 ~a@4>5", other.take(), "one handler call must be in progress, and two changes must be queued")
		require.Equal(t, 2, r.Len())
		slow.block <- struct{}{}
		synctest.Wait()
		require.Equal(t, "~a@5>6", other.take())
		close(slow.block)
		synctest.Wait()
		require.Equal(t, "+a@3 ~a@3>4 ~a@4>5 ~a@5>6 ~a@6>7 ~a@7>8", slow.take())
	})
}

func TestBlockDefaultCapacity(t *testing.T) {
	for _, capacity := range []int{0, -1} {
		informer := NewInformer(&liveObjects{}, nil)
		r := newRegistration(informer, &HandlerOptions[*lw.Object]{Policy: Block, Capacity: capacity})
		for range 1000 {
			require.False(t, r.queue.full())
			r.enqueue(Change[*lw.Object]{Type: lw.Added, New: object("x@1")}, nil)
		}
		require.True(t, r.queue.full())
	}
}

// A blocked informer must continue when the slow handler is removed, and stop when ctx is canceled.
func TestBlockedInformerStops(t *testing.T) {
	withHarness(t, "", func(t *testing.T, th *harness) {
		slow, other := &log{block: make(chan struct{})}, &log{}
		r := th.informer.Handle(slow.handler(), &HandlerOptions[*lw.Object]{Policy: Block, Capacity: 1})
		th.informer.Handle(other.handler(), &HandlerOptions[*lw.Object]{Policy: Unbounded})
		th.run()
		go th.send("+a@3 ~a@4 ~a@5 ~a@6")
		synctest.Wait()
		r.Remove()
		synctest.Wait()
		require.Equal(t, "+a@3 ~a@3>4 ~a@4>5 ~a@5>6", other.take())
		close(slow.block)
	})
	withHarness(t, "", func(t *testing.T, th *harness) {
		slow := &log{block: make(chan struct{})}
		r := th.informer.Handle(slow.handler(), &HandlerOptions[*lw.Object]{Policy: Block, Capacity: 1})
		th.run()
		th.deliver("+a@3 ~a@4")
		require.True(t, r.queue.full())
		th.stop()
		synctest.Wait()
		th.informer.mu.Lock()
		require.Nil(t, th.informer.start, "the informer must wait for the call to return, not for queue capacity")
		th.informer.mu.Unlock()
		close(slow.block)
	})
}

func objectKey(o *lw.Object) lw.Key { return lw.KeyOf(o) }

// The queue must start a consumer when a change is queued and no consumer is running. When the queue is empty, the
// consumer must end only if the queue can start another consumer.
func TestQueueConsumer(t *testing.T) {
	q := newQueue(Coalesce, 0, objectKey)
	started := 0
	add := func(word string) {
		q.add(queuedChange[*lw.Object]{Change[*lw.Object]{Type: lw.Added, New: object(word)}, nil})
	}
	take := func() takeResult {
		_, found := q.take(true)
		return found
	}
	require.Equal(t, queueEmpty, take(), "take() must not park if no consumer can be started")
	q.setConsumer(func() { started++ })
	require.Zero(t, started)
	add("x")
	add("y")
	require.Equal(t, 1, started)
	require.Equal(t, tookItem, take())
	require.Equal(t, tookItem, take())
	_, found := q.take(false)
	require.Equal(t, queueEmpty, found, "take() must not park if mayPark is false")
	require.Equal(t, queueParked, take())
	add("x")
	require.Equal(t, 2, started)
	require.Equal(t, tookItem, take())
	q.setConsumer(nil)
	require.Equal(t, queueEmpty, take(), "take() must not park if no consumer can be started")
	q.release()

	add("z")
	require.Equal(t, 2, started, "no consumer may start after setConsumer(nil)")
	q.setConsumer(func() { started++ })
	require.Equal(t, 3, started, "a queued change must start the new consumer")
	q.setConsumer(func() { started++ })
	add("y")
	require.Equal(t, 3, started, "a queue may have only one consumer")
	q.close()
	require.False(t, isClosed(q.done), "the consumer has not ended")
	require.Equal(t, queueClosed, take())
	q.release()
	require.True(t, isClosed(q.done))
	add("z")
	require.Equal(t, 3, started, "a closed queue must not start a consumer")
}

func TestUnbounded(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		slow := &log{block: make(chan struct{})}
		r := th.informer.Handle(slow.handler(), &HandlerOptions[*lw.Object]{Policy: Unbounded})
		th.run()
		th.deliver("~x@3 -x@4 +x@5 ~x@6")
		require.Equal(t, 4, r.Len())
		close(slow.block)
		synctest.Wait()
		require.Equal(t, "+x@1! ~x@1>3 -x@4 +x@5 ~x@5>6", slow.take())
	})
}

// Under every policy, a slow handler must receive a legal sequence of changes for every key. After the sequence, the
// handler must have the stored object. A Deleted change must have the UID of the deleted object.
func TestHandlersFollowRandomChanges(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			ctx, cancel := context.WithCancel(t.Context())
			w := &simulation{Rand: rand.New(rand.NewPCG(seed, 0)), requests: 20}
			silent := make(chan struct{})
			last := sync.OnceFunc(func() { close(silent) })
			w.end = func() { // the last watch sends no events until all handlers have caught up
				last()
				<-ctx.Done()
				synctest.Wait() // lets the informer notice the cancellation, so that the store receives no further event
			}
			informer := NewInformer(w, &lw.Options{PageSize: 2, NoStreamingList: true})
			var sums []fold
			for policy := range Unbounded + 1 {
				for range 2 {
					sum, slow, random := fold{}, random.IntN(3), rand.New(rand.NewPCG(seed, uint64(len(sums))))
					sums = append(sums, sum)
					informer.Handle(strict(t, sum, func() {
						time.Sleep(time.Duration(slow*slow*random.IntN(2000)) * time.Millisecond)
					}), &HandlerOptions[*lw.Object]{Policy: policy, Capacity: 5, Resync: time.Duration(random.IntN(3)) * time.Minute})
				}
			}
			done := make(chan error)
			go func() { done <- informer.Run(ctx) }()
			<-silent // closed when the last watch starts
			time.Sleep(time.Hour)
			cancel()
			<-done
			for i, sum := range sums {
				require.Equal(t, len(sum), informer.Store().Len(), "seed %d: handler %d must have received all objects in the store", seed, i)
				sum.equal(t, informer.Store())
			}
		})
	}
}

// strict returns a handler that applies its changes to a fold and fails the test on an illegal change. It calls pause
// before each change.
func strict(t *testing.T, sum fold, pause func()) Handler[*lw.Object] {
	return Handler[*lw.Object]{
		Added: func(o *lw.Object, _ bool) {
			pause()
			require.Nil(t, sum[lw.KeyOf(o)], "%v must not be added twice", lw.KeyOf(o))
			sum[lw.KeyOf(o)] = o
		},
		Modified: func(old, o *lw.Object) {
			pause()
			require.NotNil(t, sum[lw.KeyOf(o)], "%v must be added before it is updated", lw.KeyOf(o))
			require.True(t, sum[lw.KeyOf(o)] == old, "the old object of %v must be the last delivered object", lw.KeyOf(o))
			require.Equal(t, old.GetUID(), o.GetUID())
			sum[lw.KeyOf(o)] = o
		},
		Deleted: func(o *lw.Object, _ bool) {
			pause()
			require.NotNil(t, sum[lw.KeyOf(o)], "%v must be added before it is deleted", lw.KeyOf(o))
			require.Equal(t, sum[lw.KeyOf(o)].GetUID(), o.GetUID())
			delete(sum, lw.KeyOf(o))
		},
	}
}
