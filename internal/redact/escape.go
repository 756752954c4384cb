package redact

// escapes are the ways in which a character is written by its number. A digit of base 16 follows, or of base 10.
var escapes = []struct {
	begin  string
	base   int
	digits int // 0: up to a semicolon
}{{"%", 16, 2}, {`\u00`, 16, 2}, {"&#x", 16, 0}, {"&#X", 16, 0}, {"&#", 10, 0}}

// unescape returns the character that text begins with, and how many bytes stand for it.
func unescape(text string) (c byte, n int) {
	for _, e := range escapes {
		if len(text) < len(e.begin) || text[:len(e.begin)] != e.begin {
			continue
		}
		if c, n := number(text[len(e.begin):], e.base, e.digits); n > 0 {
			return c, len(e.begin) + n
		}
	}
	if len(text) > 1 && text[0] == '\\' {
		return text[1], 2
	}
	return text[0], 1
}

// number reads a character's number. It returns n = 0 if there is none.
func number(text string, base, digits int) (c byte, n int) {
	value := 0
	for n < len(text) && n < 6 && (digits == 0 || n < digits) {
		digit := digitOf(text[n])
		if digit >= base {
			break
		}
		value, n = value*base+digit, n+1
	}
	switch {
	case n == 0 || n < digits || value > '~':
		return 0, 0
	case digits == 0 && (n == len(text) || text[n] != ';'):
		return 0, 0
	case digits == 0:
		n++
	}
	return byte(value), n
}

func digitOf(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return 16
}
