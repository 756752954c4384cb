// Package scheduler implements a minimal scheduler that is structured like a controller: two informers with
// filtered handlers, a queue and workers. It binds each Pod without a node to the ready node that has the fewest
// Pods and enough CPU.
//
// It ignores spec.schedulerName, and does not support tolerations, affinities, priorities or volumes.
package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/workqueue"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Scheduler binds Pods to nodes. Create it with [New].
type Scheduler struct {
	server string
	client *http.Client
	pods   *cache.Informer[*lw.Object]
	nodes  *cache.Informer[*lw.Object]
	queue  *workqueue.Queue[pod]

	mu      sync.Mutex     // held during each decision, so that two workers do not assign the same CPU; protects assumed
	assumed map[pod]string // nodes of Pods whose binding may not be in the store yet
}

// pod identifies a Pod. The UID distinguishes it from a later Pod with the same name.
type pod struct {
	lw.Key
	uid string
}

func podOf(object *lw.Object) pod { return pod{lw.KeyOf(object), object.GetUID()} }

// New returns a scheduler for the API server with the given URL. transport sends lists and watches. client sends
// bindings and must add the credentials. New sends no requests.
func New(transport lw.Transport, server string, client *http.Client) (*Scheduler, error) {
	pods, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	if err != nil {
		return nil, err
	}
	nodes, err := lw.NewClient(transport, lw.Resource{Version: "v1", Plural: "nodes"}, lw.RawCodec{}, nil)
	if err != nil {
		return nil, err
	}
	return &Scheduler{
		server: server, client: client, pods: cache.NewInformer(pods, nil), nodes: cache.NewInformer(nodes, nil),
		queue: workqueue.New[pod](), assumed: map[pod]string{},
	}, nil
}

// Run binds Pods until ctx is done and returns context.Cause(ctx). When it returns, all goroutines have ended. It
// must be called only once.
func (s *Scheduler) Run(ctx context.Context) error {
	s.handle()
	var group cache.Group // starts the workers when both stores are complete
	group.Add("nodes", s.nodes)
	group.Add("pods", s.pods)
	return group.Run(ctx, s.work, s.work, s.work, s.work)
}

// handle registers the handlers. Pods that start or stop waiting for a node go to the queue. Changes that free CPU
// requeue the waiting Pods.
func (s *Scheduler) handle() {
	enqueue := func(object *lw.Object) { s.queue.Add(podOf(object)) }
	s.pods.Handle(cache.Handler[*lw.Object]{
		Added:    func(object *lw.Object, _ bool) { enqueue(object) },
		Modified: func(_, object *lw.Object) { enqueue(object) },
		Deleted:  func(object *lw.Object, _ bool) { enqueue(object) }, // a worker removes the Pod from s.assumed
	}, &cache.HandlerOptions[*lw.Object]{Filter: wantsNode})

	s.pods.Handle(cache.Handler[*lw.Object]{
		Deleted: func(*lw.Object, bool) { s.wake() }, // the Pod no longer occupies its node
	}, &cache.HandlerOptions[*lw.Object]{Filter: occupiesNode})

	s.nodes.Handle(cache.Handler[*lw.Object]{
		Added: func(*lw.Object, bool) { s.wake() },
		Modified: func(old, new *lw.Object) {
			if cpuOf(old) != cpuOf(new) { // other changes, such as heartbeats, free no CPU
				s.wake()
			}
		},
	}, &cache.HandlerOptions[*lw.Object]{Filter: isUsable})
}

// wake requeues the Pods that wait for a node.
func (s *Scheduler) wake() {
	for _, object := range s.pods.Store().List() {
		if wantsNode(object) {
			s.queue.Add(podOf(object))
		}
	}
}

// work schedules Pods from the queue until ctx is done.
func (s *Scheduler) work(ctx context.Context) error {
	for p := range s.queue.Keys(ctx) {
		node := s.decide(p)
		if node == "" {
			continue
		}
		err := s.bind(ctx, p, node)
		status, rejected := err.(*lw.StatusError)
		switch {
		case err == nil:
			log.Printf("%s is bound to %s", p.Key, node)
			continue
		case ctx.Err() != nil:
			return nil
		case rejected && (status.Code == http.StatusConflict || status.Code == http.StatusNotFound):
			continue // the Pod has a node or no longer exists; a watch will report this
		case rejected: // the Pod is not bound; after any other error, the binding may have succeeded
			s.mu.Lock()
			delete(s.assumed, p)
			s.mu.Unlock()
		}
		log.Printf("cannot bind %s: %v", p.Key, err)
		s.queue.Retry(p)
	}
	return nil
}

// decide chooses a node, adds the Pod to s.assumed and returns the node's name. It returns "" if the Pod must not
// be bound now.
func (s *Scheduler) decide(p pod) (node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.assumed[p]
	delete(s.assumed, p)
	object, ok := s.pods.Store().Get(p.Key)
	if !ok || podOf(object) != p || !wantsNode(object) {
		if before != "" {
			s.wake() // if the Pod was deleted soon after its binding, no other handler has freed its CPU
		}
		return ""
	}
	nodes, cpu := s.candidates(p), requested(object)
	// An earlier attempt to bind the Pod may have succeeded, so a retry must choose the same node.
	if n := nodes[before]; n != nil && n.Used+cpu <= n.CPU {
		node = before
	} else if node, ok = Choose(nodes, cpu); !ok {
		return "" // a handler requeues the Pod when a node has more CPU
	}
	s.assumed[p] = node
	return node
}

// candidates returns the usable nodes by name, with the load from all Pods except p. In a large cluster, a
// scheduler should update the loads with each event instead of adding them up for each decision.
func (s *Scheduler) candidates(p pod) map[string]*Node {
	nodes := map[string]*Node{}
	for _, n := range s.nodes.Store().List() {
		if isUsable(n) {
			nodes[n.GetName()] = &Node{CPU: cpuOf(n)}
		}
	}
	for _, object := range s.pods.Store().List() {
		name := object.Get("spec.nodeName").String()
		if name == "" {
			name = s.assumed[podOf(object)]
		}
		if n := nodes[name]; n != nil && !isFinished(object) && podOf(object) != p {
			n.Pods++
			n.Used += requested(object)
		}
	}
	return nodes
}

// bind assigns a Pod to a node. It returns an *lw.StatusError if the server rejects the binding. After any other error,
// the result is unknown.
func (s *Scheduler) bind(ctx context.Context, p pod, node string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	// The UID keeps the server from binding a new Pod with the same name.
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Binding","metadata":{"name":%q,"uid":%q},"target":{"kind":"Node","name":%q}}`, p.Name, p.uid, node)
	path := s.server + "/api/v1/namespaces/" + p.Namespace + "/pods/" + p.Name + "/binding"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusCreated {
		return nil
	}
	status := &lw.StatusError{Code: res.StatusCode}
	_ = json.NewDecoder(res.Body).Decode(status) // leaves fields empty if the body is not a Status
	return status
}
