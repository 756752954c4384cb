// Package scheduler is a minimal scheduler with the usual structure of a controller: two informers with filtered
// handlers, a queue and workers. It binds each Pod that has no node to a ready node with enough CPU, and prefers the
// node with the fewest Pods.
//
// It binds every Pod regardless of its schedulerName. It does not support tolerations, affinities, priorities or
// volumes.
package scheduler

import (
	"context"
	"net/http"
	"sync"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/workqueue"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Config contains the settings of a [Scheduler].
type Config struct {
	Transport lw.Transport // for all reads
	URL       string       // server URL for writes
	Client    *http.Client // for all writes; must add the credentials
	Workers   int          // number of concurrent bindings
	Log       func(error)  // called for each error before a retry
}

// Scheduler binds Pods. Create it with New and call Run once.
type Scheduler struct {
	config Config
	pods   *cache.Informer[*lw.Object]
	nodes  *cache.Informer[*lw.Object]
	queue  *workqueue.Queue[pod]

	mu      sync.Mutex // held during each decision, which depends on all earlier decisions
	ledger  ledger
	waiting map[pod]struct{} // Pods for which no node has enough CPU
}

// pod identifies a Pod. The UID distinguishes Pods that use the same name one after the other.
type pod struct {
	lw.Key
	uid string
}

func podOf(object *lw.Object) pod { return pod{object.Key(), object.GetUID()} }

// New returns a scheduler with the given settings. It sends no requests before Run.
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

// Pods returns the informer of all Pods, to which callers can add handlers. Run starts the informer.
func (s *Scheduler) Pods() *cache.Informer[*lw.Object] { return s.pods }

// Run binds Pods until ctx is canceled and returns the cause of the cancellation. All goroutines have ended when it
// returns.
func (s *Scheduler) Run(ctx context.Context) error {
	s.handle()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { _ = s.nodes.Run(ctx) })
	running.Go(func() { _ = s.pods.Run(ctx) })
	for _, synced := range []<-chan struct{}{s.nodes.Synced(), s.pods.Synced()} {
		select {
		case <-synced: // decisions require the complete stores
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

// handle registers the handlers. They add Pods without a node to the queue, and Pods with a node to the ledger. Changes
// that free CPU add the waiting Pods to the queue again.
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
		// cache.Block disables coalescing. A coalescing handler might never report a Pod that is bound and deleted
		// quickly. This Pod would then remain in the ledger.
	}, &cache.HandlerOptions[*lw.Object]{Filter: occupiesNode, Policy: cache.Block})

	s.nodes.Handle(cache.Handler[*lw.Object]{
		Added: func(*lw.Object, bool) { s.wake() },
		Modified: func(old, new *lw.Object) {
			if cpuOf(old) != cpuOf(new) { // other changes, such as heartbeats, do not matter
				s.wake()
			}
		},
	}, &cache.HandlerOptions[*lw.Object]{Filter: isUsable})
}

// settle adds a Pod that has a node to the ledger.
func (s *Scheduler) settle(object *lw.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.place(podOf(object).uid, placement{node: object.Get("spec.nodeName").String(), cpu: requested(object), seen: true})
}

// unsettle removes a Pod from the ledger when the Pod no longer uses its node. It also requeues the waiting Pods.
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
