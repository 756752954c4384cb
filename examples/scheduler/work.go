package scheduler

import (
	"context"
	"errors"
	"fmt"
)

// work schedules Pods from the queue until ctx is done.
func (s *Scheduler) work(ctx context.Context) {
	for p := range s.queue.Keys(ctx) {
		if err := s.schedule(ctx, p); err != nil && ctx.Err() == nil {
			s.config.Log(fmt.Errorf("pod %s: %w", p.Key, err))
			s.queue.Retry(p)
		}
	}
}

// schedule chooses a node for a Pod and binds the Pod. It returns nil if the Pod needs no retry.
func (s *Scheduler) schedule(ctx context.Context, p pod) error {
	node := s.decide(p)
	if node == "" {
		return nil
	}
	err := s.bind(ctx, p, node)
	rejected, ok := errors.AsType[*rejection](err)
	switch {
	case ok && rejected.settled():
		return nil // the Pod has a node or no longer exists; a watch will report this
	case ok:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ledger.forget(p.uid)
	}
	return err // without a rejection, the binding may have succeeded, so it stays in the ledger
}

// decide chooses a node, adds the binding to the ledger and returns the name of the node. It returns "" if the Pod must
// not be bound now.
func (s *Scheduler) decide(p pod) (node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	object, ok := s.pods.Store().Get(p.Key)
	delete(s.waiting, p)
	if !ok || podOf(object) != p || !wantsNode(object) {
		if !ok || podOf(object) != p || !occupiesNode(object) {
			s.ledger.forget(p.uid) // no watch will report a binding of this Pod
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
	// The binding of an earlier attempt may have succeeded, so a retry must choose the same node.
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
