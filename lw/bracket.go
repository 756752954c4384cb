package lw

import "math/bits"

// bracketEnd returns the position behind the bracket that closes the one before i. The text is known to be valid. It takes
// eight bytes at a time, with a bit for each, as indexes ask for a field of every object that comes.
func bracketEnd(v Value, i int) int {
	const ones, low = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f
	depth, inside := 1, uint64(0) // inside: all ones within a string
	for {
		if i+8 <= len(v) {
			b := v[i : i+8]
			x := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
				uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
			ascii := ^(x | low)
			x &= low
			// Of a byte that is c, the sum's high bit is not set.
			if ascii&^(x^ones*'\\'+low) == 0 {
				quotes := (ascii &^ (x ^ ones*'"' + low)) >> 7 * ones // how many there are up to each byte
				ascii &^= quotes<<7 ^ inside
				inside ^= -(quotes >> 56 & 1)
				x &^= ones * ('{' - '[') // a bit apart, as '}' and ']' are
				opening, closing := ascii&^(x^ones*'['+low), ascii&^(x^ones*']'+low)
				if n := bits.OnesCount64(closing); n < depth {
					depth += bits.OnesCount64(opening) - n
					i += 8
					continue
				}
				for at := opening | closing; at != 0; at &= at - 1 {
					if at&-at&opening != 0 {
						depth++
					} else if depth--; depth == 0 {
						return i + bits.TrailingZeros64(at)/8 + 1
					}
				}
				i += 8
				continue
			}
		}
		switch c := v[i]; {
		case c == '\\':
			i++
		case c == '"':
			inside = ^inside
		case inside == 0 && c|('{'-'[') == '{':
			depth++
		case inside == 0 && c|('{'-'[') == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
}
