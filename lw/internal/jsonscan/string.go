package jsonscan

// Key reads a member's name and the colon after it. The name is valid until the next call.
func (r *Reader) Key() []byte {
	if r.err != nil {
		return nil
	}
	if start := r.pos + 1; r.data[r.pos] == '"' { // most names are complete and have no escape sequences
		if end := plainEnd(r.data, start); r.data[end] == '"' && r.data[end+1] == ':' {
			r.pos = end + 2
			return r.data[start:end]
		}
	}
	unmarked := r.mark < 0
	if r.Next(); unmarked {
		r.mark = r.pos
	}
	name := r.String("a member name")
	r.take(':', "':' after a member name")
	if r.err != nil {
		return nil
	}
	text := r.Content(name)
	if unmarked {
		r.mark = -1
	}
	return text
}

// String reads a string and returns where the text between its quotes lies. It needs a mark. It returns the zero Span
// after an error.
func (r *Reader) String(expected string) Span {
	if !r.take('"', expected) {
		return Span{}
	}
	start := r.pos - r.mark
	r.pos = plainEnd(r.data, r.pos)
	escaped := false
	if r.data[r.pos] == '"' {
		r.pos++
	} else {
		escaped = r.finishString()
	}
	if r.err != nil {
		return Span{}
	}
	return Span{Start: start, End: r.pos - 1 - r.mark, Escaped: escaped}
}

// Content returns the content of a string. Without escape sequences it is a part of the buffer, which is valid until the
// next call.
func (r *Reader) Content(at Span) []byte {
	text := r.Part(at.Start, at.End)
	if at.Escaped {
		return Unescape(nil, text)
	}
	return text
}

// finishString steps over the rest of a string and its closing quote. It begins where plainEnd stopped: at the end of the
// data, an escape sequence or a control character. It reports whether there are escape sequences.
func (r *Reader) finishString() (escaped bool) {
	for {
		switch c := r.data[r.pos]; {
		case c == '"':
			r.pos++
			return escaped
		case c == '\\':
			escaped = true
			if !r.escape() {
				return true
			}
		case r.pos < r.end:
			r.Expected("a control character in a string to be escaped")
			return escaped
		case !r.fill():
			r.Expected("the end of a string")
			return escaped
		}
		r.pos = plainEnd(r.data, r.pos)
	}
}

// simpleEscapes are the bytes that form an escape sequence with a backslash alone.
var simpleEscapes = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// escape steps over one escape sequence.
func (r *Reader) escape() bool {
	r.pos++
	switch c := r.at(); {
	case simpleEscapes[c]:
		r.pos++
		return true
	case c == 'u':
		r.pos++
		for range 4 {
			if hexDigit(r.at()) < 0 {
				return r.Expected("four hexadecimal digits after \\u")
			}
			r.pos++
		}
		return true
	}
	return r.Expected("one of \"\\/bfnrtu after a backslash")
}
