// Package scheduler implements a minimal scheduler with the structure of a controller: two informers with filtered
// handlers, a queue and workers. It binds each Pod without a node to the ready node with the fewest Pods and enough
// CPU.
//
// It ignores spec.schedulerName, and does not support tolerations, affinities, priorities or volumes.
package scheduler

import (
	"context"
	"net/http"
	"sync"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/workqueue"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Config configures a [Scheduler].
type Config struct {
	Transport lw.Transport // sends lists and watches
	URL       string       // URL of the API server, which receives the bindings
	Client    *http.Client // sends bindings; must add the credentials
	Workers   int          // maximum number of concurrent bindings
	Log       func(error)  // called for each error before a retry
}

// Scheduler binds Pods to nodes. Create it with [New].
type Scheduler struct {
	config Config
	pods   *cache.Informer[*lw.Object]
	nodes  *cache.Informer[*lw.Object]
	queue  *workqueue.Queue[pod]

	mu      sync.Mutex // protects ledger and waiting during each decision
	ledger  ledger
	waiting map[pod]struct{} // Pods for which no node has enough CPU
}

// pod identifies a Pod. The UID distinguishes it from a later Pod with the same name.
type pod struct {
	lw.Key
	uid string
}

func podOf(object *lw.Object) pod { return pod{object.Key(), object.GetUID()} }

// New returns a scheduler. It sends no requests before Run is called.
func New(config Config) (*Scheduler, error) {
	s := &Scheduler{config: config, queue: workqueue.New[pod](nil), ledger: newLedger(), waiting: map[pod]struct{}{}}
	var err error
	if s.pods, err = informer(config.Transport, lw.Pods(""), podFields); err != nil {
		return nil, err
	}
	s.nodes, err = informer(config.Transport, lw.Resource{Version: "v1", Plural: "nodes"}, nodeFields)
	return s, err
}

func informer(transport lw.Transport, resource lw.Resource, fields []string) (*cache.Informer[*lw.Object], error) {
	projection, err := lw.Project(fields...)
	if err != nil {
		return nil, err
	}
	client, err := lw.NewClient(transport, resource, projection, nil)
	if err != nil {
		return nil, err
	}
	return cache.NewInformer(client, nil), nil
}

// Pods returns the informer of all Pods. Run starts this informer. Callers may add handlers.
func (s *Scheduler) Pods() *cache.Informer[*lw.Object] { return s.pods }

// Run binds Pods until ctx is done and returns context.Cause(ctx). It must be called only once. All goroutines have
// ended when it returns.
func (s *Scheduler) Run(ctx context.Context) error {
	s.handle()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { _ = s.nodes.Run(ctx) })
	running.Go(func() { _ = s.pods.Run(ctx) })
	for _, synced := range []<-chan struct{}{s.nodes.Synced(), s.pods.Synced()} {
		select {
		case <-synced: // decisions need complete stores
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for range s.config.Workers {
		running.Go(func() { s.work(ctx) })
	}
	running.Wait()
	return context.Cause(ctx)
}

// handle registers the handlers. Pods that wait for a node go to the queue, and Pods that occupy a node go to the
// ledger. Changes that free CPU requeue the waiting Pods.
func (s *Scheduler) handle() {
	enqueue := func(object *lw.Object) { s.queue.Add(podOf(object)) }
	s.pods.Handle(cache.Handler[*lw.Object]{
		Added:    func(object *lw.Object, _ bool) { enqueue(object) },
		Modified: func(_, object *lw.Object) { enqueue(object) },
		Deleted:  func(object *lw.Object, _ bool) { enqueue(object) }, // a worker removes the Pod from the ledger
	}, &cache.HandlerOptions[*lw.Object]{Filter: wantsNode})

	s.pods.Handle(cache.Handler[*lw.Object]{
		Added:   func(object *lw.Object, _ bool) { s.settle(object) },
		Deleted: func(object *lw.Object, _ bool) { s.unsettle(object) },
		// cache.Block keeps the binding and the deletion of a Pod from being coalesced. If they were coalesced, the
		// handler could miss both, and the Pod would remain in the ledger.
	}, &cache.HandlerOptions[*lw.Object]{Filter: occupiesNode, Policy: cache.Block})

	s.nodes.Handle(cache.Handler[*lw.Object]{
		Added: func(*lw.Object, bool) { s.wake() },
		Modified: func(old, new *lw.Object) {
			if cpuOf(old) != cpuOf(new) { // other changes, such as heartbeats, free no CPU
				s.wake()
			}
		},
	}, &cache.HandlerOptions[*lw.Object]{Filter: isUsable})
}

// settle adds a Pod to the ledger when it occupies a node.
func (s *Scheduler) settle(object *lw.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.place(podOf(object).uid, placement{node: object.Get("spec.nodeName").String(), cpu: requested(object), seen: true})
}

// unsettle removes a Pod from the ledger when it no longer occupies a node, and requeues the waiting Pods.
func (s *Scheduler) unsettle(object *lw.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.remove(podOf(object).uid)
	s.wakeLocked()
}

func (s *Scheduler) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wakeLocked()
}

func (s *Scheduler) wakeLocked() {
	for p := range s.waiting {
		s.queue.Add(p)
	}
	clear(s.waiting)
}
