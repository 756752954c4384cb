package schedulertest

import (
	"context"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// history contains all nodes to which each Pod has been bound. A Pod's name is never reused.
type history struct {
	mu    sync.Mutex
	nodes map[lw.Key][]string
}

// follow watches the Pods and records their nodes until ctx is done.
func (h *history) follow(ctx context.Context, transport lw.Transport) {
	client, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	if err != nil {
		panic(err) // cannot happen, because lw.Pods is a valid resource
	}
	for event := range lw.ListAndWatch(ctx, client, nil) {
		if event.Object != nil {
			h.note(event.Object.Key(), event.Object.Get("spec.nodeName").String())
		}
	}
}

func (h *history) note(pod lw.Key, node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	seen := h.nodes[pod]
	if len(seen) == 0 && node != "" || len(seen) > 0 && seen[len(seen)-1] != node {
		h.nodes[pod] = append(seen, node)
	}
}

// has reports whether the history contains a node for each Pod. The keys of bound are the names of the Pods.
func (h *history) has(bound map[string]string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name := range bound {
		if len(h.nodes[lw.Key{Namespace: "default", Name: name}]) == 0 {
			return false
		}
	}
	return true
}
