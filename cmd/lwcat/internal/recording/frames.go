package recording

import (
	"bytes"
	"unicode/utf8"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// answer is what comes of a request.
type answer struct {
	number  int
	watch   bool
	pending []byte
	last    int64 // when the last of them came
}

func (w *Writer) begin(req *lw.Request) *answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.streams++
	w.line(entry{
		At: w.now(), Kind: kindOpen, Stream: w.streams, Path: req.Path, Query: req.Query, Accept: req.Accept, Watch: req.Watch,
	})
	return &answer{number: w.streams, watch: req.Watch}
}

func (w *Writer) opened(s *answer, transport string, refused *failure) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line(entry{At: w.now(), Kind: kindOpened, Stream: s.number, Transport: transport, Failure: refused})
	if refused == nil {
		w.open[s] = struct{}{}
	}
}

// bytes takes what has come of an answer. A watch's frames end with its lines.
func (w *Writer) bytes(s *answer, data []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, open := w.open[s]; !open {
		return
	}
	s.last = w.now()
	for len(data) > 0 {
		part := data[:min(len(data), mostInFrame-len(s.pending))]
		end := -1
		if s.watch {
			end = endOfLine(s.pending, part)
		}
		if end >= 0 {
			part = part[:end]
		}
		s.pending = append(s.pending, part...)
		data = data[len(part):]
		if end >= 0 {
			w.frame(s, len(s.pending), false)
		} else if len(s.pending) == mostInFrame {
			w.frame(s, wholeRunes(s.pending), s.watch)
		}
	}
}

// endOfLine returns the length of the part of data that ends the line, which pending begins; -1 if none does. What comes
// before a line, as the newline between two messages of a WebSocket, belongs to it.
func endOfLine(pending, data []byte) int {
	blank := 0
	if len(bytes.TrimLeft(pending, "\n")) == 0 {
		blank = len(data) - len(bytes.TrimLeft(data, "\n"))
	}
	if i := bytes.IndexByte(data[blank:], '\n'); i >= 0 {
		return blank + i + 1
	}
	return -1
}

// wholeRunes returns the length of text without a character that it has the beginning of.
func wholeRunes(text []byte) int {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

// frame writes so many of the pending bytes.
func (w *Writer) frame(s *answer, n int, part bool) {
	if n == 0 {
		return
	}
	e := entry{At: s.last, Kind: kindFrame, Stream: s.number, Part: part}
	if utf8.Valid(s.pending[:n]) {
		e.Text = string(s.pending[:n])
	} else {
		e.Base64 = s.pending[:n]
	}
	w.line(e)
	s.pending = append(s.pending[:0], s.pending[n:]...)
}

func (w *Writer) closed(s *answer, f *failure) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frame(s, len(s.pending), false)
	delete(w.open, s)
	w.line(entry{At: w.now(), Kind: kindClosed, Stream: s.number, Failure: f})
}
