package output

import (
	"bufio"
	"bytes"
	"encoding/json"
	"time"
)

// Mark is a bookmark or a raw watch event.
type Mark struct {
	Time            time.Time // time of receipt
	Resource        string
	ResourceVersion string // set for a bookmark
	Frame           []byte // a raw watch event; nil for a bookmark
}

// Marker is a Format that can print marks.
type Marker interface {
	Mark(out *bufio.Writer, m *Mark)
}

func (m *Mark) name() string {
	if m.Frame != nil {
		return "FRAME"
	}
	return "BOOKMARK"
}

// frame returns the raw event on one line. Invalid JSON is returned as a JSON string.
func (m *Mark) frame() []byte {
	var line bytes.Buffer
	if json.Compact(&line, m.Frame) == nil {
		return line.Bytes()
	}
	text, _ := json.Marshal(string(m.Frame)) // strings always marshal
	return text
}

// markFormat adds a function for marks to a format function.
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

// markWire prints a bookmark with its resourceVersion, or a raw event with the type FRAME.
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
	text := m.Resource + " is at resourceVersion " + m.ResourceVersion
	if m.Frame != nil {
		text = m.Resource + " " + string(m.frame())
	}
	out.WriteString(l.opts.colorize(faint, m.Time.Format(clock)+"   "+m.name()+"   "+Plain(text)) + "\n")
}
