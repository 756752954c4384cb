package jsonscan

import (
	"math/bits"
	"unsafe"
)

// ValueEnd returns the index of the first byte after the JSON value that begins at index i. The text must be valid.
func ValueEnd(text string, i int) int {
	switch text[i] {
	case '"':
		for i++; text[i] != '"'; i++ {
			if text[i] == '\\' {
				i++
			}
		}
		return i + 1
	case '{', '[':
		return bracketEnd(text, i+1)
	}
	for i < len(text) && !isDelimiter(text[i]) {
		i++
	}
	return i
}

// SkipSpace returns the index of the first byte that is not white space, starting at index i. The text must be valid.
func SkipSpace(text string, i int) int {
	for i < len(text) && text[i] <= ' ' {
		i++
	}
	return i
}

func isDelimiter(c byte) bool { return c <= ' ' || c == ',' || c == '}' || c == ']' || c == ':' }

// bracketEnd returns the index of the first byte after an array or object of valid JSON. The opening bracket is at
// index i-1. It processes eight bytes at once, because it must be fast: the indexes of a cache call it for each object
// that arrives.
func bracketEnd(text string, i int) int {
	b := unsafe.Slice(unsafe.StringData(text), len(text)) // must not be modified, because b and text share memory
	open, inside := 1, uint64(0)                          // `inside` is all ones within a string, and zero elsewhere
	for {
		for ; i+8 <= len(b); i += 8 {
			x := load(b, i)
			low, ascii := x&lows, ^x&highs
			if equal(low, ascii, '\\') != 0 {
				break
			}
			// The shift turns each quote into a 1. The multiplication adds to each byte all lower bytes, so each byte of quotes
			// is the number of quotes up to that byte. Only its lowest bit matters: an odd number changes whether the byte is
			// within a string.
			quotes := (equal(low, ascii, '"') >> 7) * ones
			outside := ascii &^ (quotes<<7 ^ inside)
			inside ^= -(quotes >> 56 & 1)
			low &^= ones * ('{' - '[') // turns braces into brackets
			opening, closing := equal(low, outside, '['), equal(low, outside, ']')
			if n := bits.OnesCount64(closing); n < open {
				open += bits.OnesCount64(opening) - n
				continue
			}
			end := 0
			if open, end = closedAt(opening, closing, open); open == 0 {
				return i + end + 1
			}
		}
		switch c := b[i]; { // a single byte, near a backslash or the end of the text
		case c == '\\':
			i++ // skips the escaped character, which may be a quote
		case c == '"':
			inside = ^inside
		case inside == 0 && c|('{'-'[') == '{':
			open++
		case inside == 0 && c|('{'-'[') == '}':
			if open--; open == 0 {
				return i + 1
			}
		}
		i++
	}
}

// closedAt counts the brackets in two masks, in the order of the text, and stops at the bracket that closes the last
// open bracket. It returns the number of open brackets and the index of the closing bracket. The index is 8 if at least
// one bracket stays open.
func closedAt(opening, closing uint64, open int) (left, index int) {
	for at := opening | closing; at != 0; at &= at - 1 {
		if lowest := at & -at; opening&lowest != 0 {
			open++
		} else if open--; open == 0 {
			return 0, indexOf(at)
		}
	}
	return open, 8
}
