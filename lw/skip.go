package lw

import "math/bits"

// skip steps over one value of any kind, validating it. It is the hot path of the whole library, hence one long
// function with its state in local variables; whatever is rare (white space, the end of the data, escapes) happens in
// methods, after which the locals are read again.
func (s *scanner) skip() {
	if s.err != nil {
		return
	}
	b, i, floor := s.data, s.pos, s.depth
	object := false // whether the innermost open bracket is an object's
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
	case c == '{' || c == '[':
		s.pos = i + 1
		if object = c == '{'; !s.push(object) {
			return
		}
		i++
		if b[i] <= ' ' {
			b, i = s.toNext(i)
		}
		switch {
		case b[i] == c+2: // closed at once
			goto closed
		case object:
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
		s.pos = i
		s.expected("a value")
	}
	if s.err != nil {
		return
	}
	b, i = s.data, s.pos
after:
	if s.depth == floor {
		s.pos = i
		return
	}
again:
	switch c := b[i]; {
	case c == ',':
		if i++; object {
			goto key
		}
		goto value
	case c == '}' && object, c == ']' && !object:
		goto closed
	case c <= ' ':
		if b, i = s.toNext(i); b[i] > ' ' {
			goto again
		}
	}
	s.pos = i
	s.expectedNext(object)
	return
closed:
	i++
	if s.depth--; s.depth > floor {
		object = s.inObject()
	}
	goto after
key:
	if b[i] != '"' {
		if b, i = s.toNext(i); b[i] != '"' {
			s.pos = i
			s.expected("a member name")
			return
		}
	}
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
	} else {
		s.pos = i
		if s.finishString(); s.err != nil {
			return
		}
		b, i = s.data, s.pos
	}
	if b[i] != ':' {
		if b, i = s.toNext(i); b[i] != ':' {
			s.pos = i
			s.expected("':' after a member name")
			return
		}
	}
	i++
	goto value
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
