package output

import (
	"bufio"
	"bytes"
	"encoding/json"
	"time"
)

// Mark is what a stream brings besides events of objects: a bookmark, or a frame as it came off the wire.
type Mark struct {
	Time            time.Time // when it was received
	Resource        string
	ResourceVersion string // of a bookmark
	Frame           []byte // nil for a bookmark
}

// Marker is a Format that prints marks, too.
type Marker interface {
	Mark(out *bufio.Writer, m *Mark)
}

func (m *Mark) name() string {
	if m.Frame != nil {
		return "FRAME"
	}
	return "BOOKMARK"
}

// frame returns the frame as one line: as it is, or as a JSON string if it is none.
func (m *Mark) frame() []byte {
	var line bytes.Buffer
	if json.Compact(&line, m.Frame) == nil {
		return line.Bytes()
	}
	text, _ := json.Marshal(string(m.Frame)) // a string has no way to fail
	return text
}

// markFormat is a format function with a second function for marks.
type markFormat struct {
	formatFunc
	mark func(out *bufio.Writer, m *Mark)
}

func (f markFormat) Mark(out *bufio.Writer, m *Mark) { f.mark(out, m) }

// markJSONL prints
//
//	{"type":"BOOKMARK","time":"2026-11-21T10:15:30.123456789Z","resource":"pods","resourceVersion":"7"}
//	{"type":"FRAME","time":"2026-11-21T10:15:30.123456789Z","resource":"pods","frame":{"type":"ADDED","object":{…}}}
func markJSONL(out *bufio.Writer, m *Mark) {
	out.WriteString(`{"type":"` + m.name() + `","time":"` + m.Time.UTC().Format(time.RFC3339Nano) + `","resource":` + quote(m.Resource))
	if m.Frame == nil {
		out.WriteString(`,"resourceVersion":` + quote(m.ResourceVersion) + "}\n")
		return
	}
	out.WriteString(`,"frame":`)
	out.Write(m.frame())
	out.WriteString("}\n")
}

// markWire prints a bookmark with what is known of its object, and of a frame what is in it, under a type of its own.
func markWire(out *bufio.Writer, m *Mark) {
	if m.Frame == nil {
		out.WriteString(`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":` + quote(m.ResourceVersion) + "}}}\n")
		return
	}
	out.WriteString(`{"type":"FRAME","frame":`)
	out.Write(m.frame())
	out.WriteString("}\n")
}

// lineFormat is a table with marks between its rows.
type lineFormat struct{ *table }

// Mark implements [Marker].
func (l lineFormat) Mark(out *bufio.Writer, m *Mark) {
	l.Flush(out)
	text := m.Resource + " is at version " + m.ResourceVersion
	if m.Frame != nil {
		text = m.Resource + " " + string(m.frame())
	}
	out.WriteString(l.opts.colorize(faint, m.Time.Format(clock)+"   "+m.name()+"   "+Plain(text)) + "\n")
}
