package codec

import (
	"encoding"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	jsoniter "github.com/json-iterator/go"
	"github.com/modern-go/reflect2"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// api is the json-iterator configuration of this package for structs that no [plan] decodes. Its only mutable data is a cache
// of decoders.
var api = newAPI()

func newAPI() jsoniter.API {
	api := jsoniter.Config{CaseSensitive: true}.Froze()
	api.RegisterExtension(&exact{})
	return api
}

// exact is a json-iterator extension that replaces the decoders that have known defects. json-iterator still decodes
// structs, slices, most maps and booleans.
type exact struct{ jsoniter.DummyExtension }

// errMismatch stops json-iterator. It is never returned to a caller.
var errMismatch = errors.New("the value does not match the field's type")

var (
	anyType         = reflect.TypeFor[any]()
	numberType      = reflect.TypeFor[json.Number]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// CreateDecoder implements jsoniter.Extension. If it returns nil, json-iterator decodes the type.
func (*exact) CreateDecoder(typ reflect2.Type) jsoniter.ValDecoder {
	t := typ.Type1()
	if decode := leaf(t); decode != nil {
		return leafDecoder{t, decode}
	}
	return nil
}

// leafDecoder decodes a value without json-iterator.
type leafDecoder struct {
	t      reflect.Type
	decode func(*anyReader, reflect.Value)
}

func (d leafDecoder) Decode(ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	iter.WhatIsNext() // skips white space
	text := string(iter.SkipAndReturnBytes())
	if iter.Error != nil && iter.Error != io.EOF { // json-iterator records io.EOF when it looks past the last byte
		return
	}
	r := newAnyReader(text)
	defer r.release()
	if d.decode(r, reflect.NewAt(d.t, ptr).Elem()); r.err != nil {
		iter.Error = errMismatch
	}
}

// unmarshals reports whether a pointer to t has a custom method that decodes JSON or text.
func unmarshals(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return pointer.Implements(jsonUnmarshaler) || pointer.Implements(textUnmarshaler)
}

// UpdateStructDescriptor implements jsoniter.Extension. It installs decoders for fields with the option ",string".
//
// It also adds ten names that no object can contain, because json-iterator finds the fields of small structs by a
// 64-bit hash. An attacker could choose an unknown member whose hash equals that of a field.
func (*exact) UpdateStructDescriptor(descriptor *jsoniter.StructDescriptor) {
	for _, binding := range descriptor.Fields {
		name, options, _ := strings.Cut(binding.Field.Tag().Get("json"), ",")
		t := binding.Field.Type().Type1()
		if name != "" && binding.Field.Anonymous() && t.Kind() == reflect.Struct {
			// json-iterator skips an embedded struct of an unexported type, although its fields may be exported.
			binding.FromNames = []string{name}
		}
		if slices.Contains(strings.Split(options, ","), "string") {
			binding.Field = untagged{binding.Field}
			if canBeQuoted(t) {
				binding.Decoder = leafDecoder{t, decodeQuoted(t)}
			}
		}
	}
	if len(descriptor.Fields) == 0 {
		return
	}
	padded := descriptor.Fields[0]
	for i := range 10 {
		padded.FromNames = append(padded.FromNames, "\xff"+strconv.Itoa(i)+descriptor.Type.String())
	}
}

// untagged hides the tag of a field, so that json-iterator ignores the option ",string".
type untagged struct{ reflect2.StructField }

func (untagged) Tag() reflect.StructTag { return "" }

// canBeQuoted reports whether the tag option ",string" has an effect on fields of type t.
func canBeQuoted(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	kind := t.Kind()
	return kind == reflect.String || kind >= reflect.Bool && kind <= reflect.Float64
}

// decodeQuoted returns a function that decodes a field of type t with the option ",string": a quoted number, boolean or JSON
// string. It is needed because json-iterator accepts white space within the quotes and fails on escape sequences. encoding/json
// decodes a struct with only this field.
func decodeQuoted(t reflect.Type) func(*anyReader, reflect.Value) {
	alone := reflect.StructOf([]reflect.StructField{{Name: "Field", Type: t, Tag: `json:",string"`}})
	return func(r *anyReader, into reflect.Value) {
		r.fail(json.Unmarshal([]byte(`{"Field":`+r.raw()+"}"), reflect.NewAt(alone, into.Addr().UnsafePointer()).Interface()))
	}
}

// setNumber sets value to a number. It returns false if the number is out of range or, for an integer type, not an
// integer.
func setNumber(value reflect.Value, text string) bool {
	var err error
	switch {
	case value.CanInt():
		var n int64
		n, err = strconv.ParseInt(text, 10, value.Type().Bits())
		value.SetInt(n)
	case value.CanUint():
		var n uint64
		n, err = strconv.ParseUint(text, 10, value.Type().Bits())
		value.SetUint(n)
	default:
		var n float64
		n, err = strconv.ParseFloat(text, value.Type().Bits())
		value.SetFloat(n)
	}
	return err == nil
}

// wellFormed returns valid JSON with invalid UTF-8 and lone surrogates replaced by U+FFFD, like encoding/json and
// [lw.Object]. json-iterator keeps invalid UTF-8, and it misreads a surrogate pair after a lone surrogate.
func wellFormed(text string) string {
	if isWellFormed(text) {
		return text
	}
	out := make([]byte, 0, len(text)+len(text)/8)
	for start := strings.IndexByte(text, '"'); start >= 0; start = strings.IndexByte(text, '"') {
		end := jsonscan.ValueEnd(text, start)
		quoted := []byte(text[start:end])
		if !isWellFormed(text[start:end]) {
			quoted, _ = json.Marshal(string(jsonscan.Unescape(nil, quoted[1:len(quoted)-1]))) // encoding a string cannot fail
		}
		out = append(append(out, text[:start]...), quoted...)
		text = text[end:]
	}
	return string(append(out, text...))
}

func isWellFormed(text string) bool {
	return utf8.ValidString(text) && !strings.Contains(text, `\ud`) && !strings.Contains(text, `\uD`)
}
