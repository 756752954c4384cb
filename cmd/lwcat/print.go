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
// as far as the format is concerned, is told, and concerns no other event. It returns the others, which take the place of all.
func (p *printer) print(events []output.Event, flush bool) (printed []output.Event, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	printed = events[:0]
	for i := range events {
		e := &events[i]
		if err := p.format.Print(p.out, e); err != nil {
			p.status.unprinted.Add(1)
			p.status.say("%s: %s at version %s cannot be printed: %v", e.Resource, e.Object.Key(), e.Object.GetResourceVersion(), err)
			continue
		}
		printed = append(printed, *e)
	}
	if !flush {
		return printed, nil
	}
	p.status.around(func() {
		if flusher, ok := p.format.(output.Flusher); ok {
			flusher.Flush(p.out)
		}
		err = p.out.Flush()
	})
	return printed, err
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
