package codec

import (
	"reflect"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	jsoniter "github.com/json-iterator/go"
	"github.com/modern-go/reflect2"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// quotedDecoder decodes a field with the option ",string": a quoted number, boolean or JSON string. It is needed
// because json-iterator accepts white space within the quotes and fails on escape sequences.
type quotedDecoder struct{ inner jsoniter.ValDecoder }

func (d quotedDecoder) Decode(ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	switch iter.WhatIsNext() {
	case jsoniter.NilValue:
		d.inner.Decode(ptr, iter)
		return
	case jsoniter.StringValue:
	default:
		mismatch(iter)
		return
	}
	text := iter.ReadString()
	if value, err := lw.ParseValue([]byte(text)); err != nil || value.Raw() != text {
		mismatch(iter)
		return
	}
	quoted := iter.Pool().BorrowIterator([]byte(wellFormed(text)))
	defer iter.Pool().ReturnIterator(quoted)
	if d.inner.Decode(ptr, quoted); failed(quoted) {
		mismatch(iter)
	}
}

// canBeQuoted reports whether the tag option ",string" has an effect on fields of type t.
func canBeQuoted(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	kind := t.Kind()
	return kind == reflect.String || kind >= reflect.Bool && kind <= reflect.Float64
}

type retagged struct {
	reflect2.StructField
	tag reflect.StructTag
}

func (f retagged) Tag() reflect.StructTag { return f.tag }

// cutQuoted returns a field's tag without the option ",string", so that json-iterator ignores the option. It reports
// whether the tag had the option.
func cutQuoted(tag reflect.StructTag) (reflect.StructTag, bool) {
	name, options, _ := strings.Cut(tag.Get("json"), ",")
	var kept []string
	quoted := false
	for option := range strings.SplitSeq(options, ",") {
		if option == "string" {
			quoted = true
			continue
		}
		kept = append(kept, option)
	}
	return reflect.StructTag(`json:"` + strings.Join(append([]string{name}, kept...), ",") + `"`), quoted
}

const replacement = "\uFFFD"

// wellFormed returns valid JSON with invalid UTF-8 and lone surrogates replaced by U+FFFD, like encoding/json and
// [lw.Object]. json-iterator keeps invalid UTF-8, and it misreads a surrogate pair after a lone surrogate.
func wellFormed(text string) string {
	if utf8.ValidString(text) && !strings.Contains(text, `\ud`) && !strings.Contains(text, `\uD`) {
		return text
	}
	out := make([]byte, 0, len(text)+len(text)/8)
	for len(text) > 0 {
		read, written := 1, text[:1]
		switch c := text[0]; {
		case c == '\\' && text[1] == 'u':
			read, written = escape(text)
		case c == '\\': // an escaped backslash does not begin another escape sequence
			read, written = 2, text[:2]
		case c >= utf8.RuneSelf:
			var r rune
			if r, read = utf8.DecodeRuneInString(text); r == utf8.RuneError {
				written = replacement
			} else {
				written = text[:read]
			}
		}
		out, text = append(out, written...), text[read:]
	}
	return string(out)
}

// escape reads one escape sequence \u… at the start of text, or two that form a surrogate pair. It returns the number
// of bytes read and the JSON to write instead.
func escape(text string) (read int, written string) {
	first := codeUnit(text)
	if !utf16.IsSurrogate(first) {
		return 6, text[:6]
	}
	if len(text) >= 12 && text[6] == '\\' && text[7] == 'u' && utf16.DecodeRune(first, codeUnit(text[6:])) != utf8.RuneError {
		return 12, text[:12]
	}
	return 6, replacement
}

// codeUnit returns the UTF-16 code unit of an escape sequence \u….
func codeUnit(text string) rune {
	n, _ := strconv.ParseUint(text[2:6], 16, 16) // the JSON is valid, so these are four hexadecimal digits
	return rune(n)
}
