package main

import (
	"context"
	"iter"
	"strconv"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/bench/internal/plot"
	"github.com/seed-6d2a410a/listwatch/bench/internal/stores"
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

var handlers = dimension{
	name: "handlers", axis: "handlers", inputs: []int{1, 3, 10, 30, 100}, few: []int{1, 3},
	title: "What an event costs, by the number of an informer's handlers",
	note:  "processor time of one event for each handler, from the decoded object to the handler's call; 1,000 objects",
	// The handler's queue with its map, item and channel, and what wakes its goroutine.
	works:   []work{{"event, per handler", plot.Nanoseconds, 20}},
	machine: memory, columns: 2,
	run: func(t task) result {
		b := newBroadcast(t.Input)
		defer b.stop()
		if t.Contender == stores.Names[0] {
			b.startOurs()
		} else {
			b.startClientGo()
		}
		b.round() // adds all objects
		cost := perUnit(max(200_000/t.Input/len(b.versions), 4), t.Input*len(b.versions), func(int) { b.round() })
		return result{Costs: map[string]measured{"event, per handler": cost}, Bytes: measure.Heap()}
	},
}

// item is what the informers hold, on both sides.
type item = metav1.PartialObjectMetadata

// broadcast lets an informer tell all objects to its handlers, again and again.
type broadcast struct {
	handlers int
	versions []int // of the objects; zero before the first one
	source   chan []*item
	left     atomic.Int64 // calls that are still awaited
	told     chan struct{}
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

func newBroadcast(handlers int) *broadcast {
	b := &broadcast{handlers: handlers, versions: make([]int, 1000), source: make(chan []*item), told: make(chan struct{})}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

func (b *broadcast) stop() {
	b.cancel()
	b.running.Wait()
}

// round writes each object once, and waits until all handlers were told. So nothing is left to be folded together.
func (b *broadcast) round() {
	items := make([]*item, len(b.versions))
	for i := range items {
		b.versions[i]++
		items[i] = &item{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team", Name: "some-workload-5d8f9c7b6d-" + strconv.Itoa(i), ResourceVersion: strconv.Itoa(b.versions[i]*len(items) + i),
		}}
	}
	b.left.Store(int64(b.handlers * len(items)))
	b.source <- items
	<-b.told
}

// tell is what every handler does.
func (b *broadcast) tell(*item) {
	if b.left.Add(-1) == 0 {
		b.told <- struct{}{}
	}
}

func (b *broadcast) startOurs() {
	informer := cache.NewInformer[*item](b, nil)
	for range b.handlers {
		informer.Handle(cache.Handler[*item]{
			Added:   func(o *item, _ bool) { b.tell(o) },
			Updated: func(_, o *item) { b.tell(o) },
		}, nil)
	}
	b.running.Go(func() { _ = informer.Run(b.ctx) })
	<-informer.Synced()
}

// List and Watch make it a source for our informer.
func (b *broadcast) List(_ context.Context, _ lw.ListOptions, meta *lw.ListMeta) iter.Seq2[*item, error] {
	meta.ResourceVersion = "1"
	return func(func(*item, error) bool) {}
}

// Watch yields what the rounds write.
func (b *broadcast) Watch(ctx context.Context, _ lw.WatchOptions) iter.Seq2[lw.Event[*item], error] {
	return func(yield func(lw.Event[*item], error) bool) {
		yield(lw.Event[*item]{Type: lw.Live}, nil)
		for {
			select {
			case items := <-b.source:
				for _, o := range items {
					if !yield(lw.Event[*item]{Type: lw.Modified, Object: o, ResourceVersion: o.ResourceVersion}, nil) {
						return
					}
				}
			case <-ctx.Done():
				yield(lw.Event[*item]{}, context.Cause(ctx))
				return
			}
		}
	}
}

func (b *broadcast) startClientGo() {
	informer := clientgo.NewSharedIndexInformer(clientgo.ToListWatcherWithWatchListSemantics(&clientgo.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return b.clientGoWatch(), nil },
	}, b), &item{}, 0, clientgo.Indexers{})
	for range b.handlers {
		_, err := informer.AddEventHandler(clientgo.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { b.tell(o.(*item)) },
			UpdateFunc: func(_, o any) { b.tell(o.(*item)) },
		})
		measure.Must(err)
	}
	b.running.Go(func() { informer.RunWithContext(b.ctx) })
	if !clientgo.WaitForCacheSync(b.ctx.Done(), informer.HasSynced) {
		panic("an informer does not sync")
	}
}

// IsWatchListSemanticsUnSupported lets client-go list before it watches.
func (b *broadcast) IsWatchListSemanticsUnSupported() bool { return true }

// clientGoWatch is the same for client-go, whose events come over a channel.
func (b *broadcast) clientGoWatch() watch.Interface {
	events := make(chan watch.Event, 100)
	w := watch.NewProxyWatcher(events)
	go func() {
		for {
			select {
			case items := <-b.source:
				for _, o := range items {
					events <- watch.Event{Type: watch.Modified, Object: o}
				}
			case <-b.ctx.Done():
				return
			}
		}
	}()
	return w
}
