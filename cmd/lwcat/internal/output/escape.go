package output

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isControl reports whether a character moves the cursor, ends a line or changes the text direction.
func isControl(r rune) bool {
	return unicode.IsControl(r) || isSeparator(r) || isBidi(r)
}

func isSeparator(r rune) bool { return r == '\u2028' || r == '\u2029' }

func isBidi(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }

// Plain replaces line breaks and control characters, so that the text fits on one line and cannot affect the terminal.
func Plain(text string) string {
	return replaceControls(text, func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return utf8.RuneError
	})
}

// plainLines is like Plain, but keeps line breaks and tabs.
func plainLines(text string) string {
	return replaceControls(text, func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return utf8.RuneError
	})
}

// replaceControls replaces each control character, and invalid UTF-8 with U+FFFD. Some terminals interpret single bytes
// such as 0x9b.
func replaceControls(text string, replace func(rune) rune) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, isControl) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return replace(r)
		}
		return r
	}, text)
}

// escapedJSON returns equivalent JSON that cannot affect a terminal. Valid JSON contains the characters that it escapes
// only within strings, except for the carriage return, which occurs only between tokens.
func escapedJSON(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r", " ")
	return escape(text, func(r rune) bool { return isControl(r) && r != '\n' && r != '\t' })
}

// escape replaces the characters that the func selects with escape sequences of JSON and YAML.
func escape(text string, selects func(rune) bool) string {
	if !strings.ContainsFunc(text, selects) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if selects(r) {
			fmt.Fprintf(&out, `\u%04x`, r) // no control character exceeds U+FFFF
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}
