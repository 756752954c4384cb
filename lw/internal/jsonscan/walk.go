package jsonscan

import (
	"math/bits"
	"unsafe"
)

// ValueEnd returns the position behind the value that begins at i. The text must be valid.
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

// SkipSpace returns the first position from i on that holds no white space. The text must be valid.
func SkipSpace(text string, i int) int {
	for i < len(text) && text[i] <= ' ' {
		i++
	}
	return i
}

func isDelimiter(c byte) bool { return c <= ' ' || c == ',' || c == '}' || c == ']' || c == ':' }

// bracketEnd returns the position behind the bracket that closes the one before i. The text must be valid. Indexes read a
// field of each object that arrives, so it looks at eight bytes at once, except near backslashes.
func bracketEnd(text string, i int) int {
	b := unsafe.Slice(unsafe.StringData(text), len(text)) // only to read it
	open, inside := 1, uint64(0)                          // inside: all bits are set within a string
	for {
		for ; i+8 <= len(b); i += 8 {
			x := load(b, i)
			low, ascii := x&lows, ^x&highs
			if equal(low, ascii, '\\') != 0 {
				break
			}
			quotes := equal(low, ascii, '"') >> 7 * ones // the lowest bit of each byte: an odd number of quotes up to there
			outside := ascii &^ (quotes<<7 ^ inside)
			inside ^= -(quotes >> 56 & 1)
			low &^= ones * ('{' - '[') // makes each brace a bracket
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
		switch c := b[i]; {
		case c == '\\':
			i++
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

// closedAt follows the brackets that two masks mark. It stops at the one that closes the last open bracket, and returns
// how many are open and its index.
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
