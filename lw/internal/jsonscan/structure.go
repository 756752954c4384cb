package jsonscan

// Open enters an object ('{') or an array ('['). It reports whether the object or array has a first member or element.
func (r *Reader) Open(opening byte, expected string) bool {
	if !r.take(opening, expected) {
		return false
	}
	if r.depth == maxDepth {
		return r.tooDeep(r.pos - 1)
	}
	r.depth++
	if r.Next() == opening+2 { // the code of a closing bracket is that of its opening bracket plus two
		r.pos++
		r.depth--
		return false
	}
	return true
}

// More steps to the next member or element of the object or array that ends with the bracket `closing`. After the last
// member or element, it steps over the bracket and returns false.
func (r *Reader) More(closing byte) bool {
	if r.err != nil {
		return false
	}
	switch r.Next() {
	case ',':
		r.pos++
		return true
	case closing:
		r.pos++
		r.depth--
		return false
	}
	return r.expectedNext(closing)
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

// expectedNext records that a comma or a closing bracket is missing, and returns false. It does not concatenate
// strings, because the compiler would then inline it into More, and More would become slower.
func (r *Reader) expectedNext(closing byte) bool {
	if closing == '}' {
		return r.Expected("',' or '}'")
	}
	return r.Expected("',' or ']'")
}

func (r *Reader) tooDeep(at int) bool {
	return r.Fail(&SyntaxError{Offset: r.base + int64(at), Expected: "at most 1000 levels of nesting", Found: "1001"})
}
