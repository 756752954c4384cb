package codec

import (
	"reflect"
	"strings"
	"unsafe"

	jsoniter "github.com/json-iterator/go"
	"github.com/modern-go/reflect2"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// quotedDecoder reads a field with the option ",string": a number, a boolean, or once more a string, in quotes.
// json-iterator lets white space stand in the quotes and stumbles over escapes.
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
	if value, err := lw.ParseValue([]byte(text)); err != nil || len(value) != len(text) {
		mismatch(iter)
		return
	}
	quoted := iter.Pool().BorrowIterator([]byte(wellFormed(text)))
	defer iter.Pool().ReturnIterator(quoted)
	if d.inner.Decode(ptr, quoted); failed(quoted) {
		mismatch(iter)
	}
}

// canBeQuoted: the option has no effect on other types.
func canBeQuoted(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	kind := t.Kind()
	return kind == reflect.String || kind >= reflect.Bool && kind <= reflect.Float64
}

// retagged is a field with another tag than it has.
type retagged struct {
	reflect2.StructField
	tag reflect.StructTag
}

func (f retagged) Tag() reflect.StructTag { return f.tag }

// cutQuoted takes the option ",string" out of a field's tag, so that json-iterator does not act on it.
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
