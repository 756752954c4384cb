package main

import (
	"bufio"
	"io"
	"sync"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
)

// printer writes the events of all streams to standard output.
type printer struct {
	mu     sync.Mutex
	out    *bufio.Writer
	format output.Format
	status *status
}

func newPrinter(format output.Format, out io.Writer, status *status) *printer {
	return &printer{out: bufio.NewWriterSize(out, 64<<10), format: format, status: status}
}

// print writes events, and flushes them if flush is true. flush is false while more events of the same list follow.
func (p *printer) print(events []output.Event, flush bool) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range events {
		p.format.Print(p.out, &events[i])
	}
	if !flush {
		return nil
	}
	p.status.withoutLine(func() {
		if flusher, ok := p.format.(output.Flusher); ok {
			flusher.Flush(p.out)
		}
		err = p.out.Flush()
	})
	return err
}
