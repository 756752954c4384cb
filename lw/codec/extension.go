package codec

import (
	"encoding"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"

	jsoniter "github.com/json-iterator/go"
	"github.com/modern-go/reflect2"
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
	rawType         = reflect.TypeFor[json.RawMessage]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// CreateDecoder implements jsoniter.Extension. If it returns nil, json-iterator decodes the type.
func (*exact) CreateDecoder(typ reflect2.Type) jsoniter.ValDecoder {
	t := typ.Type1()
	switch pointer := reflect.PointerTo(t); {
	case t == anyType:
		return anyDecoder{}
	case t == numberType:
		return numberDecoder{t}
	case t == rawType:
		return rawDecoder{}
	case pointer.Implements(jsonUnmarshaler):
		return unmarshalDecoder{t}
	case pointer.Implements(textUnmarshaler):
		return textDecoder{t}
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64:
		return numberDecoder{t}
	case t.Kind() == reflect.String:
		return stringDecoder{}
	case t.Kind() == reflect.Array:
		return arrayDecoder{t}
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
		if name, found := embeddedName(binding.Field); found {
			binding.FromNames = []string{name}
		}
		if tag, quoted := cutQuoted(binding.Field.Tag()); quoted {
			binding.Field = retagged{binding.Field, tag}
			if canBeQuoted(binding.Field.Type().Type1()) {
				binding.Decoder = quotedDecoder{binding.Decoder}
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

// embeddedName returns the JSON name in the tag of an embedded struct and reports whether the tag contains a name.
// json-iterator skips an embedded struct of an unexported type, although fields of the struct may be exported.
func embeddedName(field reflect2.StructField) (string, bool) {
	name, _, _ := strings.Cut(field.Tag().Get("json"), ",")
	return name, name != "" && field.Anonymous() && field.Type().Kind() == reflect.Struct
}
