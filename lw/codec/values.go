package codec

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	jsoniter "github.com/json-iterator/go"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// numberDecoder decodes numbers of all types. It is needed because json-iterator accepts 25000000000000000000 as an
// int64 and rounds a float32 twice.
type numberDecoder struct{ t reflect.Type }

func (d numberDecoder) Decode(ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	if iter.ReadNil() {
		return
	}
	value := reflect.NewAt(d.t, ptr).Elem()
	switch next := iter.WhatIsNext(); {
	case next == jsoniter.NumberValue:
		if !setNumber(value, string(iter.ReadNumber())) {
			mismatch(iter)
		}
	case next == jsoniter.StringValue && d.t == numberType: // encoding/json also accepts a quoted json.Number
		text := iter.ReadString()
		if !isNumber(text) {
			mismatch(iter)
			return
		}
		value.SetString(text)
	default:
		mismatch(iter)
	}
}

func isNumber(text string) bool {
	value, err := lw.ParseValue([]byte(text))
	return err == nil && value.Raw() == text && (text[0] == '-' || text[0]-'0' < 10)
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
	case value.CanFloat():
		var n float64
		n, err = strconv.ParseFloat(text, value.Type().Bits())
		value.SetFloat(n)
	default:
		value.SetString(text)
	}
	return err == nil
}

// anyDecoder decodes into nil, bool, string, int64, float64, []any or map[string]any, as Kubernetes does for
// unstructured objects. It is needed because json-iterator decodes every number as a float64.
type anyDecoder struct{}

func (anyDecoder) Decode(ptr unsafe.Pointer, iter *jsoniter.Iterator) { *(*any)(ptr) = readAny(iter) }

func readAny(iter *jsoniter.Iterator) any {
	switch iter.WhatIsNext() {
	case jsoniter.NilValue:
		iter.ReadNil()
		return nil
	case jsoniter.BoolValue:
		return iter.ReadBool()
	case jsoniter.StringValue:
		return iter.ReadString()
	case jsoniter.NumberValue:
		return readNumber(iter)
	case jsoniter.ArrayValue:
		list := []any{}
		iter.ReadArrayCB(func(iter *jsoniter.Iterator) bool {
			list = append(list, readAny(iter))
			return !failed(iter)
		})
		return list
	}
	members := map[string]any{}
	iter.ReadMapCB(func(iter *jsoniter.Iterator, name string) bool {
		members[name] = readAny(iter)
		return !failed(iter)
	})
	return members
}

func readNumber(iter *jsoniter.Iterator) any {
	text := string(iter.ReadNumber())
	if !strings.ContainsAny(text, ".eE") {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		mismatch(iter)
	}
	return n
}

// stringDecoder decodes strings. It is needed because json-iterator decodes null as "". The string then differs from the
// string of a preceding duplicate member, which the scanner and encoding/json keep.
type stringDecoder struct{}

func (stringDecoder) Decode(ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	switch iter.WhatIsNext() {
	case jsoniter.NilValue:
		iter.ReadNil()
	case jsoniter.StringValue:
		*(*string)(ptr) = iter.ReadString()
	default:
		mismatch(iter)
	}
}

// arrayDecoder decodes arrays. It is needed because json-iterator always writes the first element, even into an array of
// length 0. The server would then control the memory behind the array. As in encoding/json, additional elements are
// skipped and missing elements become zero.
type arrayDecoder struct{ t reflect.Type }

func (d arrayDecoder) Decode(ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	switch iter.WhatIsNext() {
	case jsoniter.NilValue:
		iter.ReadNil()
		return
	case jsoniter.ArrayValue:
	default:
		mismatch(iter)
		return
	}
	array, n := reflect.NewAt(d.t, ptr).Elem(), 0
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

// rawDecoder copies JSON into a json.RawMessage. It is needed because json-iterator decodes null as nil.
type rawDecoder struct{}

func (rawDecoder) Decode(ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	iter.WhatIsNext() // skips white space
	*(*json.RawMessage)(ptr) = iter.SkipAndReturnBytes()
}

// unmarshalDecoder decodes into a json.Unmarshaler. It is needed because json-iterator continues after an error at a
// wrong position. It would then call UnmarshalJSON with arbitrary or no text, although many methods read text[0].
type unmarshalDecoder struct{ t reflect.Type }

func (d unmarshalDecoder) Decode(ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	iter.WhatIsNext() // skips white space
	text := iter.SkipAndReturnBytes()
	if failed(iter) {
		return
	}
	if reflect.NewAt(d.t, ptr).Interface().(json.Unmarshaler).UnmarshalJSON(text) != nil {
		mismatch(iter)
	}
}

// textDecoder decodes into an encoding.TextUnmarshaler. It is needed because json-iterator calls UnmarshalText with ""
// for null.
type textDecoder struct{ t reflect.Type }

func (d textDecoder) Decode(ptr unsafe.Pointer, iter *jsoniter.Iterator) {
	switch iter.WhatIsNext() {
	case jsoniter.NilValue:
		iter.ReadNil()
	case jsoniter.StringValue:
		if text := iter.ReadString(); failed(iter) || !setText(reflect.NewAt(d.t, ptr), text) {
			mismatch(iter)
		}
	default:
		mismatch(iter)
	}
}

func setText(pointer reflect.Value, text string) bool {
	return pointer.Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)) == nil
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
		ok = setText(pointer, text)
	case value.Kind() == reflect.String:
		value.SetString(text)
	default:
		ok = (value.CanInt() || value.CanUint()) && setNumber(value, text)
	}
	if !ok {
		mismatch(iter)
	}
}
