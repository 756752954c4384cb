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

// print writes events, and flushes them unless more of the same list is about to come.
func (p *printer) print(events []output.Event, flush bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range events {
		if err := p.format.Print(p.out, &events[i]); err != nil {
			return err
		}
	}
	if !flush {
		return nil
	}
	var err error
	p.status.around(func() { err = p.out.Flush() })
	return err
}
