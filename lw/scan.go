package lw

import (
	"io"
	"math/bits"
)

// maxDepth is how deep arrays and objects may nest.
const maxDepth = 1000

// scanner reads JSON from a stream: one pass, validating, refilling as it goes. Its methods do nothing once err is set,
// so that callers check it once, after a loop.
type scanner struct {
	buffer
	err   error
	depth int
	kinds [maxDepth/64 + 1]uint64 // one bit a level: set for an object
}

// newScanner returns a scanner, to be released, that is not in its caller's frame: the stack of a goroutine that waits should
// be small, as bench/watches shows.
//
//go:noinline
func newScanner(src io.Reader, maxFrame int) *scanner {
	return &scanner{buffer: newBuffer(src, maxFrame)}
}

// span is a part of the scanned text, counted from the mark.
type span struct {
	start, end int
	escaped    bool // it contains escape sequences
}

// next returns the first byte that is no white space, without taking it; zero when the stream ends before one.
func (s *scanner) next() byte {
	for {
		c := s.data[s.pos]
		switch {
		case c > ' ':
			return c
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
			s.pos++
		case s.pos < s.end:
			return c
		case !s.fill():
			return 0
		}
	}
}

// take consumes c, or fails.
func (s *scanner) take(c byte, expected string) bool {
	if s.err != nil {
		return false
	}
	if s.next() != c || s.pos == s.end {
		return s.expected(expected)
	}
	s.pos++
	return true
}

// open enters an object ('{') or an array ('['), and tells whether it has a first member or element.
func (s *scanner) open(c byte, expected string) bool {
	if !s.take(c, expected) || !s.push(c == '{') {
		return false
	}
	if s.next() == c+2 { // in ASCII the closing bracket stands two behind the opening one
		s.pos++
		s.depth--
		return false
	}
	return true
}

// more steps from one member or element to the next, or over the closing bracket.
func (s *scanner) more() bool {
	if s.err != nil {
		return false
	}
	closing := byte(']')
	if s.inObject() {
		closing = '}'
	}
	switch c := s.next(); {
	case c == ',':
		s.pos++
		return true
	case c == closing:
		s.pos++
		s.depth--
		return false
	}
	return s.expectedNext(closing == '}')
}

// expectedNext fails for want of what may stand behind a member or an element.
func (s *scanner) expectedNext(object bool) bool {
	if object {
		return s.expected("',' or '}'")
	}
	return s.expected("',' or ']'")
}

func (s *scanner) push(object bool) bool {
	if s.depth == maxDepth {
		return s.tooDeep(s.pos - 1)
	}
	word, bit := s.depth>>6, uint64(1)<<(s.depth&63)
	if object {
		s.kinds[word] |= bit
	} else {
		s.kinds[word] &^= bit
	}
	s.depth++
	return true
}

func (s *scanner) tooDeep(at int) bool {
	return s.fail(&MalformedError{Offset: s.offset(at), Expected: "at most 1000 levels of nesting", Found: "one more"})
}

func (s *scanner) inObject() bool {
	at := s.depth - 1
	return s.kinds[at>>6]&(1<<(at&63)) != 0
}

// key reads a member's name and the colon behind it. The bytes are valid until the next call.
func (s *scanner) key() []byte {
	if s.err != nil {
		return nil
	}
	if start := s.pos + 1; s.data[s.pos] == '"' { // as nearly always: at hand, without escapes or white space
		if end := plain(s.data, start); s.data[end] == '"' && s.data[end+1] == ':' {
			s.pos = end + 2
			return s.data[start:end]
		}
	}
	free := s.mark < 0
	if s.next(); free {
		s.mark = s.pos
	}
	name := s.text("a member name")
	s.take(':', "':' after a member name")
	if s.err != nil {
		return nil
	}
	text := s.data[s.mark+name.start : s.mark+name.end]
	if free {
		s.mark = -1
	}
	if name.escaped {
		return unescape(nil, text)
	}
	return text
}

// text reads a string and returns what stands between its quotes; nothing after an error. It needs the mark to be set.
func (s *scanner) text(expected string) span {
	if !s.take('"', expected) {
		return span{}
	}
	start := s.pos - s.mark
	s.pos = plain(s.data, s.pos)
	escaped := false
	if s.data[s.pos] == '"' {
		s.pos++
	} else {
		escaped = s.finishString()
	}
	if s.err != nil {
		return span{}
	}
	return span{start: start, end: s.pos - 1 - s.mark, escaped: escaped}
}

// plain returns the first position from i on that holds a quote, a backslash or a control character. Most strings are
// shorter than the sixteen bytes that it looks at in one go, so that the loop's branch is nearly always predicted.
func plain(b []byte, i int) int {
	for {
		w := b[i : i+16 : i+16]
		first, second := special(w[:8]), special(w[8:])
		if first|second != 0 {
			if first == 0 {
				first, i = second, i+8
			}
			return i + bits.TrailingZeros64(first)>>3
		}
		i += 16
	}
}

// special sets the high bit of the lowest byte of w that is a quote, a backslash or a control character, and of none
// below it.
func special(w []byte) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	x := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
		uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
	// A byte's high bit is set where the byte is below the one subtracted; &^x keeps bytes above 0x7f out. With the second
	// bit flipped, the quote (0x22) stands next to the control characters, and one comparison finds both.
	slash := x ^ ones*'\\'
	return ((x^ones*2-ones*0x21)&^x | (slash-ones)&^slash) & high
}

// simpleEscapes are the bytes that may follow a backslash and stand alone.
var simpleEscapes = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// stringEnd goes on from a backslash at i to the closing quote, or to whatever finishString must look at.
func stringEnd(b []byte, i int) int {
	for b[i] == '\\' && simpleEscapes[b[i+1]] {
		i = plain(b, i+2)
	}
	return i
}

// finishString reads on to behind the closing quote, from where plain stopped at something else: the end of the data,
// an escape sequence, or a control character. It tells whether there were escapes.
func (s *scanner) finishString() (escaped bool) {
	for {
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return escaped
		case c == '\\':
			escaped = true
			if !s.escape() {
				return true
			}
		case s.pos < s.end:
			s.expected("a control character in a string to be escaped")
			return escaped
		case !s.fill():
			s.expected("the end of a string")
			return escaped
		}
		s.pos = plain(s.data, s.pos)
	}
}

// escape steps over one escape sequence.
func (s *scanner) escape() bool {
	s.pos++
	switch c := s.at(); {
	case simpleEscapes[c]:
		s.pos++
		return true
	case c == 'u':
		s.pos++
		for range 4 {
			if hexDigit(s.at()) < 0 {
				return s.expected("four hexadecimal digits after \\u")
			}
			s.pos++
		}
		return true
	}
	return s.expected("one of \"\\/bfnrtu after a backslash")
}

// at is the byte at pos, refilled if need be; zero at the end of the stream.
func (s *scanner) at() byte {
	if s.pos == s.end {
		s.fill()
	}
	return s.data[s.pos]
}
