package lw

import "math/bits"

// skip steps over one value of any kind, validating it. It is the hot path of the whole library, hence one long
// function with its state in local variables; whatever is rare (white space, the end of the data, escapes) happens in
// methods, after which the locals are read again.
//
// What most often stands together, as a quote and a colon, is looked at in one load of both bytes.
func (s *scanner) skip() {
	if s.err != nil {
		return
	}
	b, i := s.data, s.pos
	// The brackets that are open, the innermost lowest: a one for an object's, a zero for an array's, above them a one.
	open := uint64(1)
	most := uint64(1) << min(63, maxDepth-s.depth)
value:
	switch c := b[i]; {
	case c == '"':
		// Half of all strings end within eight bytes, for which plain need not be called.
		if at := special(b[i+1 : i+9 : i+9]); at != 0 {
			i += 1 + bits.TrailingZeros64(at)>>3
		} else {
			i = plain(b, i+9)
		}
		if b[i] == '\\' {
			i = stringEnd(b, i)
		}
		if b[i] == '"' {
			i++
			goto after
		}
		s.pos = i
		s.finishString()
	case c|0x20 == '{': // or '[', which differs in that bit
		if open >= most {
			s.deeper(i, open)
			break
		}
		if b[i+1] == c+2 { // closed at once, as half of all are in managedFields
			i += 2
			goto after
		}
		i++
		open = open<<1 | uint64(c>>5&1)
		if b[i] <= ' ' {
			b, i = s.toNext(i)
		}
		switch {
		case b[i] == c+2:
			goto closed
		case c == '{':
			goto key
		}
		goto value
	case c > ' ':
		s.pos = i
		s.scalar(c)
	default:
		if b, i = s.toNext(i); b[i] > ' ' {
			goto value
		}
		s.expected("a value")
	}
	if s.err != nil {
		return
	}
	b, i = s.data, s.pos
after:
	if open == 1 {
		s.pos = i
		return
	}
again:
	switch c := b[i]; {
	case c == ',':
		if i++; open&1 != 0 {
			goto key
		}
		goto value
	case c == ']'|byte(open&1)<<5: // that bit again
		goto closed
	case c <= ' ':
		if b, i = s.toNext(i); b[i] > ' ' {
			goto again
		}
	}
	s.pos = i
	s.expectedNext(open&1 != 0)
	return
closed:
	i++
	open >>= 1
	goto after
key:
	if b[i] != '"' {
		if b, i = s.toNext(i); b[i] != '"' {
			s.expected("a member name")
			return
		}
	}
	for i++; ; i += 16 { // what plain does, which is too large for the compiler to put it here
		w := b[i : i+16 : i+16]
		first, second := special(w[:8]), special(w[8:])
		if first|second == 0 {
			continue
		}
		if first == 0 {
			first, i = second, i+8
		}
		i += bits.TrailingZeros64(first) >> 3
		break
	}
	if w := b[i : i+2 : i+2]; uint16(w[0])|uint16(w[1])<<8 == '"'|':'<<8 {
		i += 2
		goto value
	}
	if b, i = s.afterKey(i); s.err != nil {
		return
	}
	goto value
}

// afterKey steps over the end of a member's name, from where plain stopped, and over the colon.
func (s *scanner) afterKey(i int) ([]byte, int) {
	s.pos = i
	s.finishString()
	s.take(':', "':' after a member name")
	return s.data, s.pos
}

// deeper steps over the value at i for a caller that has counted as many open brackets as it can.
func (s *scanner) deeper(i int, open uint64) {
	levels := bits.Len64(open) - 1
	s.pos = i
	if s.depth += levels; s.depth == maxDepth {
		s.tooDeep(i)
		return
	}
	s.skip()
	s.depth -= levels
}

// scalar steps over a number or a literal that begins with c.
func (s *scanner) scalar(c byte) {
	switch {
	case c == 't':
		s.literal("true")
	case c == 'f':
		s.literal("false")
	case c == 'n':
		s.literal("null")
	case c == '-' || isDigit(c):
		s.number()
	default:
		s.expected("a value")
	}
}

// toNext is next for a caller that keeps the buffer and the position in local variables.
func (s *scanner) toNext(i int) ([]byte, int) {
	s.pos = i
	s.next()
	return s.data, s.pos
}

// number steps over a number, by RFC 8259's grammar.
func (s *scanner) number() {
	if s.at() == '-' {
		s.pos++
	}
	switch c := s.at(); {
	case c == '0':
		s.pos++
	case isDigit(c):
		s.digits()
	default:
		s.expected("a digit")
		return
	}
	if s.at() == '.' {
		s.pos++
		if !s.digits() {
			s.expected("a digit after the decimal point")
			return
		}
	}
	if c := s.at(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.at(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			s.expected("a digit in the exponent")
		}
	}
}

// digits steps over a run of digits and tells whether there was one.
func (s *scanner) digits() (any bool) {
	for isDigit(s.at()) {
		s.pos++
		any = true
	}
	return any
}

func (s *scanner) literal(word string) {
	for i := range len(word) {
		if s.at() != word[i] {
			s.expected(word)
			return
		}
		s.pos++
	}
}

func isDigit(c byte) bool { return c-'0' < 10 }

func hexDigit(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
