package jsonscan

import (
	"encoding/json"
	"strings"
)

// reference reads JSON byte by byte according to RFC 8259. At the first error, it panics with a failure.
type reference struct {
	text     string
	pos      int
	depth    int
	skipFrom int      // depth from which a whole value counts as a single token
	tokens   []string // tokens read so far
}

// failure is the offset of the first invalid byte, or the length of the text if it is truncated.
type failure int

// readReference returns the frames of a text, their tokens, and the offset of the first error. The offset is -1 for
// valid text.
func readReference(text string, skipFrom int) (frames, tokens []string, offset int) {
	r := reference{text: text, skipFrom: skipFrom}
	offset = -1
	defer func() {
		if at, failed := recover().(failure); failed {
			offset = int(at)
		}
		tokens = r.tokens
	}()
	for r.space(); r.pos < len(text); r.space() {
		start := r.pos
		r.value(true)
		frames = append(frames, text[start:r.pos])
	}
	return frames, tokens, offset
}

func (r *reference) next() byte {
	if r.pos < len(r.text) {
		return r.text[r.pos]
	}
	return 0
}

func (r *reference) fail() { panic(failure(r.pos)) }

// accept reports whether the next byte is in set. If so, it steps over the byte.
func (r *reference) accept(set string) bool {
	if r.pos == len(r.text) || !strings.Contains(set, r.text[r.pos:r.pos+1]) {
		return false
	}
	r.pos++
	return true
}

func (r *reference) need(set string) {
	if !r.accept(set) {
		r.fail()
	}
}

func (r *reference) space() {
	for r.accept(" \t\r\n") {
	}
}

func (r *reference) token(seen bool, text string) {
	if seen {
		r.tokens = append(r.tokens, text)
	}
}

// value reads a value. If seen is true, it also adds the value's tokens to r.tokens.
func (r *reference) value(seen bool) {
	start := r.pos
	whole := seen && r.depth >= r.skipFrom
	inner := seen && !whole
	switch c := r.next(); {
	case c == '{':
		r.bracket("}", inner, func() {
			r.token(inner, r.string())
			r.space()
			r.need(":")
			r.space()
			r.value(inner)
		})
	case c == '[':
		r.bracket("]", inner, func() { r.value(inner) })
	case c == '"':
		r.token(inner, r.string())
	case c == '-' || c >= '0' && c <= '9':
		r.number()
		r.token(inner, r.text[start:r.pos])
	default:
		r.literal()
		r.token(inner, r.text[start:r.pos])
	}
	r.token(whole, r.text[start:r.pos])
}

// bracket reads an array or object. It calls part to read each element or member.
func (r *reference) bracket(closing string, seen bool, part func()) {
	if r.depth == maxDepth {
		r.fail()
	}
	r.token(seen, r.text[r.pos:r.pos+1])
	r.pos++
	r.depth++
	r.space()
	if !r.accept(closing) {
		for {
			part()
			r.space()
			if r.accept(closing) {
				break
			}
			r.need(",")
			r.space()
		}
	}
	r.depth--
	r.token(seen, closing)
}

// string reads a string and returns its content as encoding/json decodes it.
func (r *reference) string() (content string) {
	start := r.pos
	r.need(`"`)
	for !r.accept(`"`) {
		switch {
		case r.next() < ' ':
			r.fail()
		case r.accept(`\`):
			if r.accept("u") {
				for range 4 {
					r.need("0123456789abcdefABCDEF")
				}
			} else {
				r.need(`"\/bfnrt`)
			}
		default:
			r.pos++
		}
	}
	if err := json.Unmarshal([]byte(r.text[start:r.pos]), &content); err != nil {
		panic(err)
	}
	return content
}

func (r *reference) number() {
	const digits = "0123456789"
	more := func() {
		for r.accept(digits) {
		}
	}
	r.accept("-")
	if !r.accept("0") {
		r.need(digits)
		more()
	}
	if r.accept(".") {
		r.need(digits)
		more()
	}
	if r.accept("eE") {
		r.accept("+-")
		r.need(digits)
		more()
	}
}

func (r *reference) literal() {
	for _, word := range []string{"true", "false", "null"} {
		if r.next() == word[0] {
			for i := range word {
				r.need(word[i : i+1])
			}
			return
		}
	}
	r.fail()
}
