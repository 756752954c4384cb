package scheduler

import (
	"context"
	"errors"
	"fmt"
)

// work is one worker.
func (s *Scheduler) work(ctx context.Context) {
	for p := range s.queue.Keys(ctx) {
		if err := s.schedule(ctx, p); err != nil && ctx.Err() == nil {
			s.config.Log(fmt.Errorf("pod %s: %w", p.Key, err))
			s.queue.Retry(p)
		}
	}
}

// schedule decides on a Pod and binds it. It looks at what is so now, whatever brought the Pod into the queue.
func (s *Scheduler) schedule(ctx context.Context, p pod) error {
	node := s.decide(p)
	if node == "" {
		return nil
	}
	err := s.bind(ctx, p, node)
	refused, ok := errors.AsType[*refusal](err)
	switch {
	case ok && refused.settled():
		return nil // the Pod has a node, or is gone; a watch says which
	case ok:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ledger.forget(p.uid)
	}
	return err // if nothing was answered, the Pod may have been bound: the ledger still counts it
}

// decide returns the node for a Pod, which is counted there from now on: before a watch tells of it, others are decided.
func (s *Scheduler) decide(p pod) (node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	object, ok := s.pods.Store().Get(p.Key)
	delete(s.waiting, p)
	if !ok || podOf(object) != p || !wantsNode(object) {
		if !ok || podOf(object) != p || !occupiesNode(object) {
			s.ledger.forget(p.uid) // the Pod is gone, and will not be seen on a node
		}
		return ""
	}
	cpu := requested(object)
	var nodes []Node
	for n := range s.nodes.Store().All() {
		if isUsable(n) {
			load := s.ledger.without(n.GetName(), p.uid)
			nodes = append(nodes, Node{Name: n.GetName(), CPU: cpuOf(n), Used: load.cpu, Pods: load.pods})
		}
	}
	// What was decided before stands, as the binding may have been written though no answer came.
	if before, ok := s.ledger.placed[p.uid]; ok && fits(nodes, before.node, cpu) {
		return before.node
	}
	node, ok = Choose(nodes, cpu)
	if !ok {
		s.ledger.forget(p.uid)
		s.waiting[p] = struct{}{}
		return ""
	}
	s.ledger.place(p.uid, placement{node: node, cpu: cpu})
	return node
}
