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
// structs, slices, maps and booleans.
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
	switch pointer := reflect.PointerTo(t); {
	case t == anyType:
		return anyDecoder{}
	case t == numberType, pointer.Implements(jsonUnmarshaler), pointer.Implements(textUnmarshaler):
		return standardDecoder{t}
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64:
		return kindDecoder{jsoniter.NumberValue, t, readNumber}
	case t.Kind() == reflect.String:
		return kindDecoder{jsoniter.StringValue, t, readString}
	case t.Kind() == reflect.Array:
		return kindDecoder{jsoniter.ArrayValue, t, readArray}
	}
	return nil
}

// CreateMapKeyDecoder implements jsoniter.Extension.
func (*exact) CreateMapKeyDecoder(typ reflect2.Type) jsoniter.ValDecoder {
	return keyDecoder{typ.Type1()}
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

// standardDecoder decodes a json.Number, a json.Unmarshaler or an encoding.TextUnmarshaler as encoding/json does. It is
// needed because json-iterator accepts any string as a json.Number, calls UnmarshalText for null, and decodes null as
// an empty json.RawMessage. It also continues after an error at a wrong position, and would then call UnmarshalJSON with
// arbitrary or no text, although many methods read text[0].
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

// kindDecoder decodes JSON values of one kind. As in encoding/json, null has no effect.
type kindDecoder struct {
	kind jsoniter.ValueType
	t    reflect.Type
	read func(t reflect.Type, ptr unsafe.Pointer, iter *jsoniter.Iterator)
}

func (d kindDecoder) Decode(ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	switch iter.WhatIsNext() {
	case d.kind:
		d.read(d.t, ptr, iter)
	case jsoniter.NilValue:
		iter.ReadNil()
	default:
		mismatch(iter)
	}
}

// readString decodes strings. It is needed because json-iterator decodes null as "". The string then differs from the
// string of a preceding duplicate member, which the scanner and encoding/json keep.
func readString(_ reflect.Type, ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	*(*string)(ptr) = iter.ReadString()
}

// readNumber decodes numbers of all types. It is needed because json-iterator accepts 25000000000000000000 as an int64
// and rounds a float32 twice.
func readNumber(t reflect.Type, ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	if !setNumber(reflect.NewAt(t, ptr).Elem(), string(iter.ReadNumber())) {
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

// readArray decodes arrays. It is needed because json-iterator always writes the first element, even into an array of
// length 0. The server would then control the memory behind the array. As in encoding/json, additional elements are
// skipped and missing elements become zero.
func readArray(t reflect.Type, ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	array, n := reflect.NewAt(t, ptr).Elem(), 0
	iter.ReadArrayCB(func(iter *jsoniter.Iterator) bool {
		if n < array.Len() {
			iter.ReadVal(array.Index(n).Addr().Interface())
			n++
		} else {
			iter.SkipAndReturnBytes() // an additional element
		}
		return !failed(iter)
	})
	for ; n < array.Len(); n++ {
		array.Index(n).SetZero()
	}
}

// anyDecoder decodes into nil, bool, string, int64, float64, []any or map[string]any, as Kubernetes does for
// unstructured objects. It is needed because json-iterator decodes every number as a float64.
type anyDecoder struct{}

func (anyDecoder) Decode(ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	if iter.WhatIsNext() != jsoniter.NumberValue {
		*(*any)(ptr) = iter.Read()
		return
	}
	text := string(iter.ReadNumber())
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		*(*any)(ptr) = n
		return
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		mismatch(iter)
	}
	*(*any)(ptr) = n
}

// keyDecoder decodes the keys of a map. It is needed because json-iterator also accepts floats, booleans and leading
// white space.
type keyDecoder struct{ t reflect.Type }

func (d keyDecoder) Decode(ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	text, pointer := iter.ReadString(), reflect.NewAt(d.t, ptr)
	if failed(iter) {
		return
	}
	ok := true
	switch value := pointer.Elem(); {
	case pointer.Type().Implements(textUnmarshaler):
		ok = pointer.Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)) == nil
	case value.Kind() == reflect.String:
		value.SetString(text)
	default:
		ok = (value.CanInt() || value.CanUint()) && setNumber(value, text)
	}
	if !ok {
		mismatch(iter)
	}
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
