package course

import (
	"context"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// history is all nodes that each Pod was ever seen on. No Pod of the course is made twice.
type history struct {
	mu    sync.Mutex
	nodes map[lw.Key][]string
}

// follow keeps the history by a stream of its own.
func (h *history) follow(ctx context.Context, transport lw.Transport) {
	client, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	if err != nil {
		panic(err) // the resource is a valid one
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

// has reports whether all these Pods were seen on a node.
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
