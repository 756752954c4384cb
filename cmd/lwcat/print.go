package main

import (
	"bufio"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// printer writes changes to standard output, for several streams at once.
type printer struct {
	mu     sync.Mutex
	out    *bufio.Writer
	format func(*bufio.Writer, lw.EventType, *lw.Object)
}

func newPrinter(format string, out io.Writer) *printer {
	p := &printer{out: bufio.NewWriterSize(out, 64<<10), format: printJSON}
	if format == "line" {
		p.format = printLine
	}
	return p
}

// print writes changes, and flushes them unless more of the same list is about to come.
func (p *printer) print(deltas []cache.Delta[*lw.Object], flush bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range deltas {
		switch d.Type {
		case cache.Added:
			p.format(p.out, lw.Added, d.New)
		case cache.Updated:
			p.format(p.out, lw.Modified, d.New)
		case cache.Deleted:
			p.format(p.out, lw.Deleted, d.Old)
		}
	}
	if !flush {
		return nil
	}
	return p.out.Flush()
}

// printJSON writes the wire's own form. A bufio.Writer keeps its first error for Flush.
func printJSON(out *bufio.Writer, event lw.EventType, object *lw.Object) {
	out.WriteString(`{"type":"`)
	out.WriteString(event.String())
	out.WriteString(`","object":`)
	out.WriteString(object.Raw())
	out.WriteString("}\n")
}

// printLine writes a line for people: when, what, which, and how it is.
func printLine(out *bufio.Writer, event lw.EventType, object *lw.Object) {
	out.WriteString(time.Now().Format("15:04:05.000 "))
	pad(out, event.String(), 9)
	pad(out, object.Kind(), 10)
	pad(out, object.Key().String(), 44)
	out.WriteString(state(object))
	out.WriteByte('\n')
}

func pad(out *bufio.Writer, text string, width int) {
	out.WriteString(text)
	for range max(1, width-len(text)) {
		out.WriteByte(' ')
	}
}

// state sums up an object in a word or two, where it has what most objects have.
func state(object *lw.Object) string {
	if object.Get("metadata.deletionTimestamp").Exists() {
		return "Terminating"
	}
	if reason := object.Get("status.containerStatuses[0].state.waiting.reason"); reason.Exists() {
		return reason.String()
	}
	if phase := object.Get("status.phase"); phase.Exists() {
		return phase.String()
	}
	if wanted := object.Get("spec.replicas"); wanted.Exists() {
		ready := object.Get("status.readyReplicas").Int()
		return strconv.FormatInt(ready, 10) + "/" + wanted.String() + " ready"
	}
	for condition := range object.Get("status.conditions").Elements() {
		if condition.Get("type").String() == "Ready" {
			return map[string]string{"True": "Ready", "False": "NotReady"}[condition.Get("status").String()]
		}
	}
	return ""
}
