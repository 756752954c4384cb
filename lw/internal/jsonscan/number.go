package jsonscan

// skipScalar steps over the number or literal whose first byte is c.
func (r *Reader) skipScalar(c byte) {
	switch {
	case c == 't':
		r.literal("true")
	case c == 'f':
		r.literal("false")
	case c == 'n':
		r.literal("null")
	case c == '-' || isDigit(c):
		r.number()
	default:
		r.Expected("a value")
	}
}

// number steps over a number according to RFC 8259.
func (r *Reader) number() {
	if r.at() == '-' {
		r.pos++
	}
	switch c := r.at(); {
	case c == '0':
		r.pos++
	case isDigit(c):
		r.digits()
	default:
		r.Expected("a digit")
		return
	}
	if r.at() == '.' {
		r.pos++
		if !r.digits() {
			r.Expected("a digit after the decimal point")
			return
		}
	}
	if r.at()|0x20 == 'e' {
		r.pos++
		if c := r.at(); c == '+' || c == '-' {
			r.pos++
		}
		if !r.digits() {
			r.Expected("a digit in the exponent")
		}
	}
}

// digits steps over a sequence of digits. It returns false if the sequence is empty.
func (r *Reader) digits() (found bool) {
	for isDigit(r.at()) {
		r.pos++
		found = true
	}
	return found
}

func (r *Reader) literal(word string) {
	for i := range len(word) {
		if r.at() != word[i] {
			r.Expected(word)
			return
		}
		r.pos++
	}
}

// at returns the byte at pos and refills the buffer if needed. At the end of the stream it returns zero.
func (r *Reader) at() byte {
	if r.pos == r.end {
		r.fill()
	}
	return r.data[r.pos]
}

// isDigit needs only one comparison, because c-'0' is large for a byte below '0'.
func isDigit(c byte) bool { return c-'0' < 10 }
