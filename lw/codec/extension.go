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

// exact takes from json-iterator what it reads wrongly, and leaves it the structs, slices, maps, strings and booleans.
type exact struct{ jsoniter.DummyExtension }

// errMismatch stops json-iterator. Its own errors quote the object, so no error of it is shown to anybody.
var errMismatch = errors.New("the value does not fit the field")

// mismatch keeps the first error.
func mismatch(iter *jsoniter.Iterator) {
	if !failed(iter) {
		iter.Error = errMismatch
	}
}

// failed: json-iterator notes io.EOF when it looks for more behind the last byte, which is no failure.
func failed(iter *jsoniter.Iterator) bool { return iter.Error != nil && iter.Error != io.EOF }

var (
	anyType         = reflect.TypeFor[any]()
	numberType      = reflect.TypeFor[json.Number]()
	rawType         = reflect.TypeFor[json.RawMessage]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// CreateDecoder implements jsoniter.Extension. Nil leaves the type to json-iterator.
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
		return nil
	case pointer.Implements(textUnmarshaler):
		return textDecoder{t}
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64:
		return numberDecoder{t}
	}
	return nil
}

// CreateMapKeyDecoder implements jsoniter.Extension.
func (*exact) CreateMapKeyDecoder(typ reflect2.Type) jsoniter.ValDecoder {
	return keyDecoder{typ.Type1()}
}

// UpdateStructDescriptor implements jsoniter.Extension. It reads ",string" fields its own way, and sees to it that members
// are found by their names: structs of up to ten names are otherwise read by a 64-bit hash of the name, for which colliding
// names can be found, so that a member which a server takes for unknown could be read as another. Ten more names help,
// which no object can have, as they are no UTF-8.
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

// embeddedName is the name that a tag gives to an embedded struct of an unexported type. Its fields are exported all the
// same, but json-iterator steps over it.
func embeddedName(field reflect2.StructField) (string, bool) {
	name, _, _ := strings.Cut(field.Tag().Get("json"), ",")
	return name, name != "" && field.Anonymous() && field.Type().Kind() == reflect.Struct
}
