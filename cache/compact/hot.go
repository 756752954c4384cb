package compact

import (
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// objectCache holds recently used objects in uncompressed form. It has two generations, because a list ordered by last
// use would need a list element per object. When the generation recent reaches half of the limit, it becomes the
// generation older, and the previous older generation is dropped. If an object of the older generation is used again,
// it is also added to the recent one.
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
	if h.recent[held] == nil { // otherwise, another goroutine has already added the object
		h.add(held, text)
	}
}

// add adds an object to the recent generation. It ignores an object that is larger than the limit of one generation.
// The caller must hold h.mu.
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
