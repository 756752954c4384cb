// Package scheduler is a mini scheduler in the form that controllers have: two collections watched together, handlers that
// are told of a part of each, a queue, workers, and a write for every decision. It binds every Pod that asks for a node to
// the one with the fewest Pods, among those that are ready and have enough of the requested cpu.
//
// It takes every Pod, whatever its schedulerName, and knows no tolerations, affinities, priorities or volumes.
package scheduler

import (
	"context"
	"net/http"
	"sync"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/workqueue"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Config says where the cluster is.
type Config struct {
	Transport lw.Transport // to read through
	URL       string       // to write to
	Client    *http.Client // to write with, credentials included
	Workers   int          // how many Pods are bound at the same time
	Log       func(error)  // is told what went wrong; each such Pod is tried again
}

// Scheduler binds Pods. Make it with New, and call Run once.
type Scheduler struct {
	config Config
	pods   *cache.Informer[*lw.Object]
	nodes  *cache.Informer[*lw.Object]
	queue  *workqueue.Queue[pod]

	mu      sync.Mutex // one decision at a time: each builds on those before it
	ledger  ledger
	waiting map[pod]struct{} // for which no node had room
}

// pod names a Pod. Another one of the same name is another Pod.
type pod struct {
	lw.Key
	uid string
}

func podOf(object *lw.Object) pod { return pod{object.Key(), object.GetUID()} }

// New returns a scheduler. Of all objects it keeps only the fields that it reads.
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

// Pods is the informer of all Pods, for more handlers. Run runs it.
func (s *Scheduler) Pods() *cache.Informer[*lw.Object] { return s.pods }

// Run binds Pods until ctx ends, and returns its cause. When it has returned, nothing is left running.
func (s *Scheduler) Run(ctx context.Context) error {
	s.handle()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { _ = s.nodes.Run(ctx) })
	running.Go(func() { _ = s.pods.Run(ctx) })
	for _, synced := range []<-chan struct{}{s.nodes.Synced(), s.pods.Synced()} {
		select {
		case <-synced: // a decision needs all nodes, and all Pods that are on them
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

// handle says what is done with what is told: Pods that ask for a node go into the queue, those that have one into the
// ledger, and whatever makes room wakes those that wait for it.
func (s *Scheduler) handle() {
	ask := func(object *lw.Object) { s.queue.Add(podOf(object)) }
	s.pods.Handle(cache.Handler[*lw.Object]{
		Added:    func(object *lw.Object, _ bool) { ask(object) },
		Modified: func(_, object *lw.Object) { ask(object) },
		Deleted:  func(object *lw.Object, _ bool) { ask(object) }, // so that a worker forgets it
	}, &cache.HandlerOptions[*lw.Object]{Filter: wantsNode})

	s.pods.Handle(cache.Handler[*lw.Object]{
		Added:   func(object *lw.Object, _ bool) { s.settle(object) },
		Deleted: func(object *lw.Object, _ bool) { s.unsettle(object) },
		// Nothing is coalesced: of a Pod that was bound and gone at once nobody would be told, and the ledger keep it.
	}, &cache.HandlerOptions[*lw.Object]{Filter: occupiesNode, Policy: cache.Block})

	s.nodes.Handle(cache.Handler[*lw.Object]{
		Added: func(*lw.Object, bool) { s.wake() },
		Modified: func(old, new *lw.Object) {
			if cpuOf(old) != cpuOf(new) { // and not every heartbeat
				s.wake()
			}
		},
	}, &cache.HandlerOptions[*lw.Object]{Filter: isUsable})
}

// settle records a Pod that has a node.
func (s *Scheduler) settle(object *lw.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.place(podOf(object).uid, placement{node: object.Get("spec.nodeName").String(), cpu: requested(object), seen: true})
}

// unsettle removes a Pod that has left its node, and wakes the Pods that wait for room.
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
