package redact

// unescape decodes the first character of text. n is the length of its escape sequence in bytes, or 1 if the character
// is not escaped.
func unescape(text string) (c byte, n int) {
	switch {
	case text[0] == '%':
		c, n = number(text, 1, 16, 2)
	case text[0] == '\\' && len(text) > 1 && text[1] == 'u':
		c, n = number(text, 2, 16, 4)
	case text[0] == '\\' && len(text) > 1:
		return text[1], 2
	case len(text) > 2 && text[:2] == "&#" && text[2]|0x20 == 'x':
		c, n = number(text, 3, 16, 0)
	case len(text) > 2 && text[:2] == "&#":
		c, n = number(text, 2, 10, 0)
	}
	if n == 0 {
		return text[0], 1
	}
	return c, n
}

// number parses the code of an ASCII character at text[n:]. The code has the given number of digits. If digits is 0,
// the code ends with a semicolon. It returns the character and the position after the code, or 0, 0 if the code is
// invalid.
func number(text string, n int, base, digits int) (c byte, end int) {
	value, begin := 0, n
	for ; n < len(text) && (digits == 0 || n < begin+digits); n++ {
		digit := digitOf(text[n])
		if digit >= base || value > '~' {
			break
		}
		value = value*base + digit
	}
	if digits == 0 && n < len(text) && text[n] == ';' {
		n, digits = n+1, n+1-begin
	}
	if value > '~' || digits == 0 || n != begin+digits {
		return 0, 0
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
