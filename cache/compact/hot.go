package compact

import (
	"container/list"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// objectCache holds the most recently used objects in uncompressed form.
type objectCache struct {
	mu      sync.Mutex
	limit   int // maximum size in bytes
	size    int
	entries map[*Object]*list.Element
	order   list.List // list of cachedObjects, most recently used first
}

type cachedObject struct {
	held *Object
	text *lw.Object
}

// entryOverhead is the approximate size of a cache entry in bytes, excluding its object's JSON.
const entryOverhead = 256

func (h cachedObject) size() int { return len(h.text.Raw()) + entryOverhead }

func newObjectCache(limit int) *objectCache {
	return &objectCache{limit: limit, entries: make(map[*Object]*list.Element)}
}

func (h *objectCache) get(held *Object) *lw.Object {
	h.mu.Lock()
	defer h.mu.Unlock()
	element, ok := h.entries[held]
	if !ok {
		return nil
	}
	h.order.MoveToFront(element)
	return element.Value.(cachedObject).text
}

func (h *objectCache) put(held *Object, text *lw.Object) {
	entry := cachedObject{held, text}
	if entry.size() > h.limit {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.entries[held]; ok {
		return // another goroutine has already added the object
	}
	h.entries[held] = h.order.PushFront(entry)
	for h.size += entry.size(); h.size > h.limit; {
		oldest := h.order.Remove(h.order.Back()).(cachedObject)
		delete(h.entries, oldest.held)
		h.size -= oldest.size()
	}
}
