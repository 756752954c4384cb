package jsonscan

// Open enters an object ('{') or an array ('['). It reports whether the object or array has a first member or element.
func (r *Reader) Open(opening byte, expected string) bool {
	if !r.take(opening, expected) || !r.push(opening == '{') {
		return false
	}
	if r.Next() == opening+2 { // the code of a closing bracket is that of its opening bracket plus two
		r.pos++
		r.depth--
		return false
	}
	return true
}

// More steps to the next member or element. After the last member or element, it steps over the closing bracket and
// returns false.
func (r *Reader) More() bool {
	if r.err != nil {
		return false
	}
	closing := byte(']')
	if r.inObject() {
		closing = '}'
	}
	switch c := r.Next(); {
	case c == ',':
		r.pos++
		return true
	case c == closing:
		r.pos++
		r.depth--
		return false
	}
	return r.expectedNext(closing == '}')
}

// take steps over the byte c. If the next byte is not c, it records an error and returns false.
func (r *Reader) take(c byte, expected string) bool {
	if r.err != nil {
		return false
	}
	if r.Next() != c || r.pos == r.end {
		return r.Expected(expected)
	}
	r.pos++
	return true
}

// expectedNext records the error that a comma or a closing bracket is missing. It returns false.
func (r *Reader) expectedNext(object bool) bool {
	if object {
		return r.Expected("',' or '}'")
	}
	return r.Expected("',' or ']'")
}

func (r *Reader) push(object bool) bool {
	if r.depth == maxDepth {
		return r.tooDeep(r.pos - 1)
	}
	word, bit := r.depth>>6, uint64(1)<<(r.depth&63)
	if object {
		r.kinds[word] |= bit
	} else {
		r.kinds[word] &^= bit
	}
	r.depth++
	return true
}

func (r *Reader) inObject() bool {
	at := r.depth - 1
	return r.kinds[at>>6]&(1<<(at&63)) != 0
}

func (r *Reader) tooDeep(at int) bool {
	return r.Fail(&SyntaxError{Offset: r.base + int64(at), Expected: "at most 1000 levels of nesting", Found: "1001"})
}
