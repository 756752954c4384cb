package compact

import (
	"container/list"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// hotObjects are the objects that were read last, by what they are held as.
type hotObjects struct {
	mu      sync.Mutex
	limit   int // bytes
	size    int
	entries map[*Object]*list.Element
	order   list.List // of hotObject, the latest first
}

type hotObject struct {
	held *Object
	text *lw.Object
}

// overhead is what an entry takes besides the text: an Object, a place in the map, one in the order.
const overhead = 256

func (h hotObject) size() int { return len(h.text.Raw()) + overhead }

func newHotObjects(limit int) *hotObjects {
	return &hotObjects{limit: limit, entries: make(map[*Object]*list.Element)}
}

func (h *hotObjects) get(held *Object) *lw.Object {
	h.mu.Lock()
	defer h.mu.Unlock()
	element, ok := h.entries[held]
	if !ok {
		return nil
	}
	h.order.MoveToFront(element)
	return element.Value.(hotObject).text
}

func (h *hotObjects) put(held *Object, text *lw.Object) {
	entry := hotObject{held, text}
	if entry.size() > h.limit {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.entries[held]; ok {
		return // another goroutine read it at the same time
	}
	h.entries[held] = h.order.PushFront(entry)
	for h.size += entry.size(); h.size > h.limit; {
		oldest := h.order.Remove(h.order.Back()).(hotObject)
		delete(h.entries, oldest.held)
		h.size -= oldest.size()
	}
}
