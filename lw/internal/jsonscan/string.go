package jsonscan

import "strings"

// Key reads a member name and the colon after it. The name is valid until the next call.
func (r *Reader) Key() []byte {
	if r.err != nil {
		return nil
	}
	// Most names are complete in the buffer and have no escape sequences. The indexes are in range even at the end of the
	// data, because at least pad bytes follow it.
	if start := r.pos + 1; r.data[r.pos] == '"' {
		if end := plainEnd(r.data, start); r.data[end] == '"' && r.data[end+1] == ':' {
			r.pos = end + 2
			return r.data[start:end]
		}
	}
	// String and Content use positions relative to the mark, because fill may move the data. A list has no mark outside
	// its items, so that the buffer need not keep the whole list. In this case, set one while the name is read.
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

// String reads a string and returns the span between its quotes. The reader must have a mark, because the span is
// relative to it. After an error, String returns the zero Span.
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

// Content returns the unescaped content of a string. If there are no escape sequences, the result is part of the buffer
// and valid until the next call.
func (r *Reader) Content(at Span) []byte {
	text := r.Part(at.Start, at.End)
	if at.Escaped {
		return Unescape(nil, text)
	}
	return text
}

// finishString steps over the rest of a string and its closing quote. It starts at the position that plainEnd returned.
// It reports whether the string has escape sequences.
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
		case r.pos < r.end: // plainEnd also stops at a control character, and at the zero bytes after the data
			r.Expected("a control character in a string to be escaped")
			return escaped
		case !r.fill():
			r.Expected("the end of a string")
			return escaped
		}
		r.pos = plainEnd(r.data, r.pos)
	}
}

// simpleEscapes contains the characters that form an escape sequence after a backslash, except for u.
var simpleEscapes = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// escape steps over one escape sequence. It returns false after an error.
func (r *Reader) escape() bool {
	r.pos++
	switch c := r.at(); {
	case simpleEscapes[c]:
		r.pos++
		return true
	case c == 'u':
		r.pos++
		for range 4 {
			if strings.IndexByte("0123456789abcdefABCDEF", r.at()) < 0 {
				return r.Expected("four hexadecimal digits after \\u")
			}
			r.pos++
		}
		return true
	}
	return r.Expected("one of \"\\/bfnrtu after a backslash")
}
