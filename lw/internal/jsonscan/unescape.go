package jsonscan

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Unescape appends the content of a JSON string to dst. text is the JSON between the quotes and must be valid. Lone
// surrogates and invalid UTF-8 become U+FFFD, as in encoding/json.
func Unescape(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\\':
			r, size := unescapeOne(text[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
		case c < utf8.RuneSelf:
			dst = append(dst, c)
			i++
		default:
			r, size := utf8.DecodeRune(text[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
		}
	}
	return dst
}

// unescapeOne decodes one escape sequence, or two that form a surrogate pair. It returns the decoded character and the
// number of bytes read.
func unescapeOne(text []byte) (r rune, size int) {
	switch text[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r := hexRune(text[2:])
		if utf16.IsSurrogate(r) {
			if len(text) >= 12 && text[6] == '\\' && text[7] == 'u' {
				if pair := utf16.DecodeRune(r, hexRune(text[8:])); pair != utf8.RuneError {
					return pair, 12
				}
			}
			return utf8.RuneError, 6
		}
		return r, 6
	}
	return rune(text[1]), 2 // an escaped quote, slash or backslash
}

// hexRune decodes the four hexadecimal digits at the start of text.
func hexRune(text []byte) rune {
	n, _ := strconv.ParseUint(string(text[:4]), 16, 16) // the JSON is valid
	return rune(n)
}
