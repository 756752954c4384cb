package codec

import (
	"reflect"

	"github.com/seed-6d2a410a/listwatch/internal/uid"
)

func init() { uid.Reader = uidReader }

// uidReader returns a [uid.Reader] for objects of zero's type. It returns nil if the type has no GetUID method that
// returns a string type.
func uidReader(zero any) func(object any) string {
	if zero == nil {
		return nil
	}
	method, ok := reflect.TypeOf(zero).MethodByName("GetUID")
	if !ok || method.Type.NumIn() != 1 || method.Type.NumOut() != 1 || method.Type.Out(0).Kind() != reflect.String {
		return nil
	}
	return func(object any) string { return reflect.ValueOf(object).MethodByName("GetUID").Call(nil)[0].String() }
}
