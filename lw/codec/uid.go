package codec

import (
	"reflect"
	"slices"
	"sync"
)

// uidReaders caches the result of uidReader for each type. An interface type may have objects of several types.
var uidReaders sync.Map // from reflect.Type to func(reflect.Value) string

// uidOf returns the UID of an object, or "" if it has none.
func uidOf[T any](object T) string {
	value := reflect.ValueOf(object)
	if !value.IsValid() {
		return ""
	}
	read, known := uidReaders.Load(value.Type())
	if !known {
		read, _ = uidReaders.LoadOrStore(value.Type(), uidReader(value.Type()))
	}
	if read := read.(func(reflect.Value) string); read != nil {
		return read(value)
	}
	return ""
}

// uidReader returns a func that reads the UID of a value of type t, or nil if t has none. It prefers a field to a
// method, because reading a field is faster.
func uidReader(t reflect.Type) func(reflect.Value) string {
	if t.Kind() == reflect.Pointer {
		if metadata, ok := planOf(t).elem.fields["metadata"]; ok {
			uid, ok := metadata.plan.fields["uid"]
			index := slices.Concat(metadata.index, uid.index)
			if ok && t.Elem().FieldByIndex(index).Type.Kind() == reflect.String {
				return func(object reflect.Value) string {
					if object.IsNil() {
						return ""
					}
					return object.Elem().FieldByIndex(index).String()
				}
			}
		}
	}
	method, ok := t.MethodByName("GetUID")
	if !ok || method.Type.NumIn() != 1 || method.Type.NumOut() != 1 || method.Type.Out(0).Kind() != reflect.String {
		return nil
	}
	return func(object reflect.Value) string { return object.MethodByName("GetUID").Call(nil)[0].String() }
}
