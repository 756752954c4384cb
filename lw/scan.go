package lw

import "io"

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
