package output

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isControl reports whether a character moves the cursor, ends a line or changes the text direction.
func isControl(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}

// Plain replaces line breaks and control characters, so that the text fits on one line and cannot affect the terminal.
func Plain(text string) string { return onOneLine.Replace(plainLines(text)) }

var onOneLine = strings.NewReplacer("\n", " ", "\t", " ")

// plainLines replaces control characters other than line breaks and tabs with U+FFFD. It also replaces invalid UTF-8,
// because some terminals interpret single bytes such as 0x9b.
func plainLines(text string) string {
	return strings.Map(func(r rune) rune {
		if isControl(r) && r != '\n' && r != '\t' {
			return utf8.RuneError
		}
		return r
	}, text)
}

// escapedJSON returns equivalent JSON that cannot affect a terminal. It replaces invalid UTF-8, and escapes all control
// characters except tabs. The text must have no line breaks, because an escape is valid only within a string. Valid JSON
// contains the other control characters only there.
func escapedJSON(text string) string {
	var out strings.Builder
	for _, r := range text { // r is U+FFFD for invalid UTF-8
		if isControl(r) && r != '\t' {
			fmt.Fprintf(&out, `\u%04x`, r) // no control character exceeds U+FFFF
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}
