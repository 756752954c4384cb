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

// exact is a json-iterator extension that replaces the decoders that have known defects. json-iterator still decodes
// structs, slices, most maps and booleans.
type exact struct{ jsoniter.DummyExtension }

// errMismatch stops json-iterator. It is never returned to a caller.
var errMismatch = errors.New("the value does not match the field's type")

func mismatch(iter *jsoniter.Iterator) {
	if !failed(iter) {
		iter.Error = errMismatch
	}
}

// failed reports whether decoding has failed. The error io.EOF does not count, because json-iterator records it when it
// looks past the last byte.
func failed(iter *jsoniter.Iterator) bool { return iter.Error != nil && iter.Error != io.EOF }

var (
	anyType         = reflect.TypeFor[any]()
	numberType      = reflect.TypeFor[json.Number]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// CreateDecoder implements jsoniter.Extension. If it returns nil, json-iterator decodes the type.
func (*exact) CreateDecoder(typ reflect2.Type) jsoniter.ValDecoder {
	t := typ.Type1()
	switch kind := t.Kind(); {
	case t == anyType:
		return anyDecoder{}
	case t == numberType, unmarshals(t), kind == reflect.Array, kind == reflect.Map && (t.Key().Kind() != reflect.String || unmarshals(t.Key())):
		return standardDecoder{t}
	case kind == reflect.String, kind >= reflect.Int && kind <= reflect.Float64:
		return scalarDecoder{t}
	}
	return nil
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
				binding.Decoder = quotedDecoder{reflect.StructOf([]reflect.StructField{{Name: "Field", Type: t, Tag: `json:",string"`}})}
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

// quotedDecoder decodes a field with the option ",string": a quoted number, boolean or JSON string. It is needed
// because json-iterator accepts white space within the quotes and fails on escape sequences. t is a struct with only
// this field, so that encoding/json can decode it.
type quotedDecoder struct{ t reflect.Type }

func (d quotedDecoder) Decode(ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	text := `{"Field":` + string(skipped(iter)) + "}"
	if failed(iter) || json.Unmarshal([]byte(text), reflect.NewAt(d.t, ptr).Interface()) != nil {
		mismatch(iter)
	}
}

// standardDecoder decodes a value with encoding/json. It is needed for these types:
//
//   - json.Number, because json-iterator accepts any string.
//   - json.Unmarshaler and encoding.TextUnmarshaler, because json-iterator calls UnmarshalText for null, and decodes null
//     as an empty json.RawMessage. It also continues after an error at a wrong position, and would then call
//     UnmarshalJSON with arbitrary or no text, although many methods read text[0].
//   - Arrays, because json-iterator always writes the first element, even into an array of length 0. The server would
//     then control the memory behind the array.
//   - Maps whose keys are not plain strings, because json-iterator also accepts floats, booleans and leading white space.
type standardDecoder struct{ t reflect.Type }

func (d standardDecoder) Decode(ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	text := skipped(iter)
	if failed(iter) {
		return
	}
	var err error
	switch pointer := reflect.NewAt(d.t, ptr).Interface().(type) {
	case json.Unmarshaler:
		err = pointer.UnmarshalJSON(text)
	default:
		err = json.Unmarshal(text, pointer)
	}
	if err != nil {
		mismatch(iter)
	}
}

// skipped steps over a value and returns a copy of its JSON.
func skipped(iter *jsoniter.Iterator) []byte {
	iter.WhatIsNext() // skips white space
	return iter.SkipAndReturnBytes()
}

// scalarDecoder decodes strings, and numbers of all types. As in encoding/json, null has no effect. It is needed because
// json-iterator decodes null as "", and the string then differs from the string of a preceding duplicate member, which the
// scanner and encoding/json keep. It also accepts 25000000000000000000 as an int64 and rounds a float32 twice.
type scalarDecoder struct{ t reflect.Type }

func (d scalarDecoder) Decode(ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	switch kind, isString := iter.WhatIsNext(), d.t.Kind() == reflect.String; {
	case kind == jsoniter.NilValue:
		iter.ReadNil()
	case kind == jsoniter.StringValue && isString:
		*(*string)(ptr) = iter.ReadString()
	case kind != jsoniter.NumberValue || isString || !setNumber(reflect.NewAt(d.t, ptr).Elem(), string(iter.ReadNumber())):
		mismatch(iter)
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

// anyDecoder decodes a field of type any, like [decodeAny].
type anyDecoder struct{}

func (anyDecoder) Decode(ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	text := skipped(iter)
	if failed(iter) {
		return
	}
	value, err := decodeAny(unsafe.String(unsafe.SliceData(text), len(text)))
	if err != nil {
		mismatch(iter)
	}
	*(*any)(ptr) = value
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
