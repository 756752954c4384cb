package jsonscan

import "math/bits"

// The functions in this file process eight bytes at once. The first byte of the text is the lowest byte of a word. A
// mask is a word with the high bit set in each matching byte.
const (
	ones  = 0x0101010101010101 // ones*c is a word whose eight bytes are all c
	highs = 0x8080808080808080 // the high bit of each byte
	lows  = 0x7f7f7f7f7f7f7f7f // all bits of each byte except the high bit
)

// load returns the eight bytes of b that begin at i. It panics if b is too short. The compiler turns this function into
// a single load instruction. The same function exists in encoding/binary, but that package imports reflect, which is
// large.
func load(b []byte, i int) uint64 {
	w := b[i : i+8 : i+8]
	return uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
		uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
}

// indexOf returns the index of the first byte that a mask marks, or 8 if the mask marks no byte.
func indexOf(mask uint64) int { return bits.TrailingZeros64(mask) >> 3 }

// special returns a mask of the bytes that need attention in a string: quotes, backslashes and control characters. Only
// the first marked byte is reliable.
//
// The subtraction x - ones*c sets the high bit of each byte below c. It may also change the bytes above such a byte, so
// the mask is reliable only up to the first such byte. The operation &^x excludes bytes whose high bit was already set.
// XOR with 2 swaps the quote (0x22) and the space (0x20). After that, the quote and the control characters are the
// bytes below 0x21. XOR with the backslash turns a backslash into zero, which is the only byte below 1.
func special(x uint64) uint64 {
	slash := x ^ ones*'\\'
	return ((x^ones*2-ones*0x21)&^x | (slash-ones)&^slash) & highs
}

// equal returns a mask of the bytes in a word that equal the ASCII character c. The caller splits the word into two
// arguments: low is the word with the high bit of each byte cleared, and ascii is a mask of the bytes whose high bit
// was clear.
//
// First, XOR with c turns each byte that equals c into zero. Then, adding 0x7f to each byte sets the high bit of every
// byte that is not zero. This addition never carries into the next byte, because the high bits of low are clear.
func equal(low, ascii uint64, c byte) uint64 { return ascii &^ (low ^ ones*uint64(c) + lows) }

// indexOf16 is like indexOf for two consecutive masks. It returns 16 if they mark no byte.
func indexOf16(first, second uint64) int {
	if first == 0 {
		return 8 + indexOf(second)
	}
	return indexOf(first)
}

// pair returns the two bytes of b that begin at i as a little-endian number.
func pair(b []byte, i int) uint16 {
	w := b[i : i+2 : i+2]
	return uint16(w[0]) | uint16(w[1])<<8
}

// quoteColon is the pair of bytes after a member name.
const quoteColon = '"' | ':'<<8

// plainEnd returns the position of the first quote, backslash or control character at or after i. Most strings are
// shorter than the sixteen bytes of one iteration, so the branch is well predicted.
func plainEnd(b []byte, i int) int {
	for {
		n := indexOf16(special(load(b, i)), special(load(b, i+8)))
		if i += n; n < 16 {
			return i
		}
	}
}

// plainEndAt is like plainEnd, for a caller that already has the mask of the first eight bytes. Half of all strings end
// within these bytes. The compiler inlines only small functions, so this function does not compute the mask itself.
func plainEndAt(b []byte, i int, mask uint64) int {
	if mask != 0 {
		return i + indexOf(mask)
	}
	return plainEnd(b, i+8)
}
