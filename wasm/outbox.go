//go:build js

package main

import (
	"sync"

	"github.com/seed-6d2a410a/listwatch/internal/jsx"
)

// The kinds of records; records.js has the same.
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
)

// outbox gathers records, and gives them to the host when everything else waits, or there are many. A record is its kind, a
// byte, the number of its fields, another, and each field with its length in four bytes before it.
type outbox struct {
	mu      sync.Mutex
	pending []*collection
	due     chan struct{}
	once    sync.Once
}

// A batch that is larger is given to the host at once, so that neither side ever holds much.
const (
	batchBytes   = 256 << 10
	batchRecords = 50
)

func (o *outbox) init() { o.once.Do(func() { o.due = make(chan struct{}, 1) }) }

// add adds a record of a collection, whose fields write appends.
func (o *outbox) add(c *collection, kind byte, fields int, write func([]byte) []byte) {
	o.init()
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
	c.batch = write(append(c.batch, kind, byte(fields)))
	if c.records >= batchRecords || len(c.batch) >= batchBytes {
		o.flush(c)
	}
}

func appendField[text string | []byte](b []byte, field text) []byte {
	n := len(field)
	return append(append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24)), field...)
}

// send gives what was gathered to the host. There is one thread, and goroutines are not interrupted on it: so this runs when
// the others wait for what has not come yet.
func (o *outbox) send() {
	o.init()
	for range o.due {
		o.mu.Lock()
		for _, c := range o.pending {
			o.flush(c)
		}
		o.pending = o.pending[:0]
		o.mu.Unlock()
	}
}

func (o *outbox) flush(c *collection) {
	if c.records == 0 {
		return
	}
	jsx.Emit(c.id, c.batch)
	c.batch, c.records = c.batch[:0], 0
	if cap(c.batch) > 2*batchBytes {
		c.batch = nil // one large object is no reason to keep as much for ever
	}
}
