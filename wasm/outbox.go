//go:build js

package main

import (
	"sync"

	"github.com/seed-6d2a410a/listwatch/internal/jsx"
)

// Types of records. records.js defines the same numbers.
const (
	added = iota + 1
	modified
	deleted
	reset
	synced
	live
	bookmark
	interrupted
	stopped
	switched
	page
	warning
)

// outbox collects records and sends them to the host in batches, because every call of JavaScript has a cost. It sends a
// batch when the batch is full. Otherwise it sends the batch when the collection's goroutine blocks, because that
// goroutine then has no more events to apply. A record starts with one byte for its type and one byte for the number of
// fields. Each field consists of its length in 4 bytes and its bytes.
type outbox struct {
	mu      sync.Mutex    // guards pending and all batches; the collections and send run in their own goroutines
	pending []*collection // collections with records; may also contain collections whose batch was full and is already sent
	due     chan struct{} // receives a value when a batch gets its first record
}

// A batch that reaches one of these limits is sent immediately. The limits bound the memory of a batch, and the time
// that the host needs to process it.
const (
	batchBytes   = 256 << 10
	batchRecords = 50
)

func newOutbox() *outbox { return &outbox{due: make(chan struct{}, 1)} }

// add adds a record to a collection's batch. If text is not nil, it is the last field. The number of fields fits in one
// byte, because spec.js limits the number of indexes to 200.
func (o *outbox) add(c *collection, kind byte, fields []string, text []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c.records == 0 {
		o.pending = append(o.pending, c)
		select {
		case o.due <- struct{}{}:
		default:
		}
	}
	c.records++
	start := len(c.batch)
	c.batch = append(c.batch, kind, byte(len(fields)))
	for _, field := range fields {
		c.batch = appendField(c.batch, field)
	}
	if text != nil {
		c.batch = appendField(c.batch, text)
		c.batch[start+1]++
	}
	if c.records >= batchRecords || len(c.batch) >= batchBytes {
		o.flush(c)
	}
}

func appendField[text string | []byte](b []byte, field text) []byte {
	n := len(field)
	return append(append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24)), field...)
}

// send sends the batches of all collections to the host each time add signals o.due. A WASM module has one thread
// without preemption, so send cannot run before the goroutine that called add blocks.
func (o *outbox) send() {
	for range o.due {
		o.mu.Lock()
		for _, c := range o.pending {
			o.flush(c)
		}
		o.pending = o.pending[:0]
		o.mu.Unlock()
	}
}

// flush sends the batch of a collection to the host if the batch contains any records. The host does not keep the batch,
// so the collection can reuse the buffer. The caller must hold o.mu.
func (o *outbox) flush(c *collection) {
	if c.records == 0 {
		return
	}
	jsx.Emit(c.id, c.batch)
	c.batch, c.records = c.batch[:0], 0
	if cap(c.batch) > 2*batchBytes {
		c.batch = nil // releases the buffer, which may have grown for a large object
	}
}
