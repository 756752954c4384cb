package main

import (
	"bufio"
	"io"
	"sync"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
)

// printer writes events to standard output, for several streams at once.
type printer struct {
	mu     sync.Mutex
	out    *bufio.Writer
	format output.Format
	status *status
}

func newPrinter(format output.Format, out io.Writer, status *status) *printer {
	return &printer{out: bufio.NewWriterSize(out, 64<<10), format: format, status: status}
}

// print writes events, and flushes them unless more of the same list is about to come. What is wrong with an event's content,
// as far as the format is concerned, is told, and concerns no other event.
func (p *printer) print(events []output.Event, flush bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range events {
		e := &events[i]
		if err := p.format.Print(p.out, e); err != nil {
			p.status.say("%s: %s at version %s cannot be printed: %v", e.Resource, e.Object.Key(), e.Object.GetResourceVersion(), err)
		}
	}
	if !flush {
		return nil
	}
	var err error
	p.status.around(func() {
		if flusher, ok := p.format.(output.Flusher); ok {
			flusher.Flush(p.out)
		}
		err = p.out.Flush()
	})
	return err
}

// mark writes what is no event of an object, at once. The format has to be an output.Marker.
func (p *printer) mark(m *output.Mark) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.format.(output.Marker).Mark(p.out, m)
	var err error
	p.status.around(func() { err = p.out.Flush() })
	return err
}
