package lw

import "math/bits"

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
	text := s.content(name)
	if free {
		s.mark = -1
	}
	return text
}

// content returns what a string says: its bytes as they lie in the buffer, or a copy without its escape sequences.
func (s *scanner) content(at span) []byte {
	text := s.data[s.mark+at.start : s.mark+at.end]
	if at.escaped {
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
