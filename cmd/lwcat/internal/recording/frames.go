package recording

import (
	"bytes"
	"unicode/utf8"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// response is the state of a response that is being recorded.
type response struct {
	number   int
	watch    bool
	pending  []byte
	lastRead int64 // time at which the pending bytes arrived
}

func (w *Writer) startRequest(req *lw.Request) *response {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.streams++
	w.writeEntry(entry{
		At: w.now(), Kind: kindOpen, Stream: w.streams, Path: req.Path, Query: req.Query, Accept: req.Accept, Watch: req.Watch,
	})
	return &response{number: w.streams, watch: req.Watch}
}

func (w *Writer) writeOpened(s *response, rejected *failure) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writeEntry(entry{At: w.now(), Kind: kindOpened, Stream: s.number, Failure: rejected})
	if rejected == nil {
		w.open[s] = struct{}{}
	}
}

// writeBytes splits the bytes of a response into frames. In a watch, each line is one frame unless it exceeds maxFrame.
func (w *Writer) writeBytes(s *response, data []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, open := w.open[s]; !open {
		return
	}
	s.lastRead = w.now()
	for len(data) > 0 {
		part := data[:min(len(data), maxFrame-len(s.pending))]
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
			w.writeFrame(s, len(s.pending), false)
		} else if len(s.pending) == maxFrame {
			w.writeFrame(s, completeRunes(s.pending), s.watch)
		}
	}
}

// endOfLine returns the number of bytes of data up to the end of the line that starts with pending, or -1 if the line
// is incomplete. Leading newlines, such as those between WebSocket messages, belong to the next line.
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

// completeRunes returns the length of text without an incomplete character at its end.
func completeRunes(text []byte) int {
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

// writeFrame writes the first n pending bytes.
func (w *Writer) writeFrame(s *response, n int, part bool) {
	if n == 0 {
		return
	}
	e := entry{At: s.lastRead, Kind: kindFrame, Stream: s.number, Part: part}
	if utf8.Valid(s.pending[:n]) {
		e.Text = string(s.pending[:n])
	} else {
		e.Base64 = s.pending[:n]
	}
	w.writeEntry(e)
	s.pending = append(s.pending[:0], s.pending[n:]...)
}

func (w *Writer) writeClosed(s *response, f *failure) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writeFrame(s, len(s.pending), false)
	delete(w.open, s)
	w.writeEntry(entry{At: w.now(), Kind: kindClosed, Stream: s.number, Failure: f})
}
