package compact

import (
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// objectCache holds recently used objects in uncompressed form. Instead of ordering the objects by their last use, it
// has two generations: when recent has reached half of the limit, it replaces older.
type objectCache struct {
	mu            sync.Mutex
	limit         int // maximum size of both generations in bytes
	size          int // size of recent in bytes
	recent, older map[*Object]*lw.Object
}

// entryOverhead is the approximate size of a cache entry in bytes, excluding its object's JSON.
const entryOverhead = 256

func (h *objectCache) get(held *Object) *lw.Object {
	h.mu.Lock()
	defer h.mu.Unlock()
	if text := h.recent[held]; text != nil {
		return text
	}
	text := h.older[held]
	if text != nil {
		h.add(held, text)
	}
	return text
}

func (h *objectCache) put(held *Object, text *lw.Object) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.recent[held] == nil { // unless another goroutine has already added the object
		h.add(held, text)
	}
}

func (h *objectCache) add(held *Object, text *lw.Object) {
	size := len(text.Raw()) + entryOverhead
	if size > h.limit/2 {
		return
	}
	if h.size += size; h.recent == nil || h.size > h.limit/2 {
		h.recent, h.older, h.size = map[*Object]*lw.Object{}, h.recent, size
	}
	h.recent[held] = text
}
