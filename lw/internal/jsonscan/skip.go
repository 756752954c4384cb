package jsonscan

import "math/bits"

// nesting is a stack of open brackets with one bit for each bracket: 1 for an object, 0 for an array. The lowest bit is
// the innermost bracket.
type nesting uint64

const (
	outermost nesting = 2  // an empty stack: its highest bit marks the bottom, and its lowest bit is clear, as in an array
	inObject  nesting = 1  // the lowest bit, which is set if the innermost bracket is an object
	mostOpen          = 62 // the capacity of the stack: 64 bits without the two bits of outermost
)

// levels returns the number of open brackets.
func (n nesting) levels() int { return bits.Len64(uint64(n)) - 2 }

// closing returns the bracket that closes the innermost object or array. The codes of '}' and ']' differ in one bit.
func (n nesting) closing() byte { return ']' | byte(n&inObject)<<5 }

// enter returns n with an added bracket. The codes of '{' and '[' differ in the same bit as those of '}' and ']'.
func (n nesting) enter(opening byte) nesting { return n<<1 | nesting(opening>>5)&inObject }

// leave steps over the closing brackets at i that match the stack. It returns the brackets that remain open and the new
// position.
func (n nesting) leave(b []byte, i int) (nesting, int) {
	for n != outermost && b[i] == n.closing() {
		i++
		n >>= 1
	}
	return n, i
}

// SkipValue steps over the next value, whatever its type, and validates it.
func (r *Reader) SkipValue() {
	if r.err == nil {
		r.skip(r.data, r.pos)
	}
}

// skip steps over one value. It is the hot path of the library, so it keeps the data and the position in local
// variables. Refilling the buffer may move the data, so each method that may refill it returns both variables again.
// After an error, these methods return the position of a zero byte, which makes toComma end the loop.
//
// skip reads member names in steps of sixteen bytes and other strings in a first step of eight bytes. Most names and
// strings end within their first step.
func (r *Reader) skip(b []byte, i int) {
	open, most := outermost, outermost<<min(mostOpen, maxDepth-r.depth)
	for {
		if open&inObject != 0 {
			end, n := i+1, indexOf16(special(load(b, i+1)), special(load(b, i+9)))
			for ; n == 16; n = indexOf16(special(load(b, end)), special(load(b, end+8))) {
				end += 16
			}
			end += n
			if b[i] == '"' && pair(b, end) == quoteColon {
				i = end + 2
			} else {
				b, i = r.restOfKey(i, end)
			}
		}
		switch c := b[i]; {
		case c == '"':
			i = plainEndAt(b, i+1, special(load(b, i+1)))
			if b[i] != '"' {
				b, i = r.toQuote(i)
			}
			i++
		case c|0x20 != '{' || open >= most:
			b, i = r.skipOther(i, open)
		case b[i+1] == c+2: // half of the objects in managedFields are empty
			i += 2
		default:
			open = open.enter(c)
			if b, i = r.skipSpace(b, i+1); b[i] != c+2 {
				continue
			}
		}
		if open, i = open.leave(b, i); open != outermost && b[i] != ',' {
			b, i, open = r.toComma(i, open)
		}
		if open == outermost {
			r.pos = i
			return
		}
		i++
	}
}

// resume returns the data and the position, for callers that keep them in local variables. After an error, the position
// is that of the zero byte after the data.
func (r *Reader) resume() ([]byte, int) {
	if r.err != nil {
		return r.data, r.end
	}
	return r.data, r.pos
}

// toNext steps over white space at i and returns the data and the new position.
func (r *Reader) toNext(i int) ([]byte, int) {
	r.pos = i
	r.Next()
	return r.resume()
}

// skipSpace returns the same result as toNext, but is faster for text without white space.
func (r *Reader) skipSpace(b []byte, i int) ([]byte, int) {
	if b[i] > ' ' {
		return b, i
	}
	return r.toNext(i)
}

// toQuote finds the closing quote of a string that plainEnd could not scan to its end. It scans from i, and returns the
// data and the position of the quote.
func (r *Reader) toQuote(i int) ([]byte, int) {
	r.pos = i
	r.finishString()
	r.pos--
	return r.resume()
}

// toComma steps over white space and closing brackets at i. It stops at a comma or after the outermost bracket. It
// returns the data, the new position and the brackets that remain open.
func (r *Reader) toComma(i int, open nesting) ([]byte, int, nesting) {
	for {
		b, next := r.toNext(i)
		if open, i = open.leave(b, next); open == outermost || b[i] == ',' {
			return b, i, open
		}
		if i == next { // no bracket was closed
			r.expectedNext(open.closing())
			return r.data, r.end, outermost
		}
	}
}

// restOfKey steps over white space at i, a member name and its colon. If the byte at i is a quote, the caller has
// already checked the name up to end.
func (r *Reader) restOfKey(i, end int) ([]byte, int) {
	b := r.data
	if b[i] != '"' {
		if b, i = r.toNext(i); b[i] != '"' {
			r.Expected("a member name")
			return r.resume()
		}
		end = i + 1
	}
	end = plainEnd(b, end)
	if pair(b, end) == quoteColon {
		return b, end + 2
	}
	r.pos = end
	r.finishString()
	r.take(':', "':' after a member name")
	return r.resume()
}

// skipOther steps over white space and the value after it. It calls skip recursively for strings, and for brackets that
// exceed the capacity of a nesting stack.
func (r *Reader) skipOther(i int, open nesting) ([]byte, int) {
	r.pos = i
	if r.data[i] <= ' ' {
		r.Next()
	}
	levels := open.levels()
	switch c := r.data[r.pos]; {
	case c|0x20 != '{' && c != '"':
		r.skipScalar(c)
	case c != '"' && r.depth+levels == maxDepth:
		r.tooDeep(r.pos)
	default:
		r.depth += levels
		r.skip(r.data, r.pos)
		r.depth -= levels
	}
	return r.resume()
}
