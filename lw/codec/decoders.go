package codec

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	jsoniter "github.com/json-iterator/go"
	"github.com/modern-go/reflect2"
)

// api is the json-iterator configuration of this package. Its only mutable data is a cache of decoders.
var api = newAPI()

func newAPI() jsoniter.API {
	// Without DisallowUnknownFields, json-iterator finds fields by a 64-bit hash of their name. An attacker could then
	// choose an unknown member name whose hash equals that of a field.
	api := jsoniter.Config{CaseSensitive: true, DisallowUnknownFields: true}.Froze()
	api.RegisterExtension(&fieldFinder{})
	return api
}

// decodeUnusual decodes a member of a JSON object if [plan.addFields] has not found the member's struct field. It uses
// json-iterator only to find the field and to allocate embedded structs. json-iterator decodes many values wrongly, so
// decodeUnusual gives it a placeholder instead of the value.
func decodeUnusual(r *anyReader, name string, into reflect.Value) {
	value := r.at
	quoted, _ := json.Marshal(name) // encoding a string cannot fail
	iter := jsoniter.ParseString(api, "{"+string(quoted)+":0}")
	iter.Attachment = r
	iter.ReadVal(into.Addr().Interface())
	if r.at == value { // the struct has no such field
		r.raw()
	}
}

// fieldDecoder decodes the next value of the [anyReader] that decodeUnusual has attached to an iterator.
type fieldDecoder struct {
	t      reflect.Type
	decode func(*anyReader, reflect.Value)
}

func (d fieldDecoder) Decode(ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	iter.ReadInt() // the placeholder
	d.decode(iter.Attachment.(*anyReader), reflect.NewAt(d.t, ptr).Elem())
}

var (
	anyType         = reflect.TypeFor[any]()
	numberType      = reflect.TypeFor[json.Number]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// unmarshals reports whether a pointer to t has a custom method that decodes JSON or text.
func unmarshals(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return pointer.Implements(jsonUnmarshaler) || pointer.Implements(textUnmarshaler)
}

// fieldFinder is a json-iterator extension that replaces the decoders of all fields.
type fieldFinder struct{ jsoniter.DummyExtension }

// UpdateStructDescriptor implements jsoniter.Extension.
func (*fieldFinder) UpdateStructDescriptor(descriptor *jsoniter.StructDescriptor) {
	for _, binding := range descriptor.Fields {
		name, options, _ := strings.Cut(binding.Field.Tag().Get("json"), ",")
		t := binding.Field.Type().Type1()
		if name != "" && binding.Field.Anonymous() && t.Kind() == reflect.Struct {
			// json-iterator skips an embedded struct of an unexported type, although its fields may be exported.
			binding.FromNames = []string{name}
		}
		decoder := fieldDecoder{t, planOf(t).decode}
		if slices.Contains(strings.Split(options, ","), "string") {
			decoder.decode = decodeQuoted
		}
		binding.Field, binding.Decoder = untagged{binding.Field}, decoder
	}
}

// untagged hides the tag of a field, so that json-iterator ignores the option ",string".
type untagged struct{ reflect2.StructField }

func (untagged) Tag() reflect.StructTag { return "" }

// decodeQuoted decodes a field with the option ",string", whose value is a number, a boolean or a string inside a JSON
// string. It lets encoding/json decode a struct that has only this field, because the option's rules are intricate.
func decodeQuoted(r *anyReader, into reflect.Value) {
	text := r.raw()
	alone := reflect.StructOf([]reflect.StructField{{Name: "Field", Type: into.Type(), Tag: `json:",string"`}})
	if json.Unmarshal([]byte(`{"Field":`+text+"}"), reflect.NewAt(alone, into.Addr().UnsafePointer()).Interface()) != nil {
		r.fail(into.Type(), kindOf(text))
	}
}

// setScalar sets value to a number or a boolean. It returns false if the number is out of range, or if the text does
// not fit the type of value.
func setScalar(value reflect.Value, text string) bool {
	var err error
	switch {
	case value.Kind() == reflect.Bool:
		value.SetBool(text == "true")
		return text == "true" || text == "false"
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
