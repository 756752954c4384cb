package codec

import "reflect"

// uidOf returns the UID of an object, or "" if it has none. It prefers the field to the method GetUID, because reading
// a field is faster. The field and the result of GetUID may have any string type, for example types.UID.
func uidOf[T any](object T) string {
	value := reflect.ValueOf(object)
	if value.Kind() != reflect.Pointer || value.IsNil() {
		return ""
	}
	if metadata := planOf(value.Type()).elem.field("metadata"); metadata != nil {
		if uid := metadata.plan.field("uid"); uid != nil {
			if field := value.Elem().FieldByIndex(metadata.index).FieldByIndex(uid.index); field.Kind() == reflect.String {
				return field.String()
			}
		}
	}
	method := value.MethodByName("GetUID")
	if !method.IsValid() || method.Type().NumIn() != 0 || method.Type().NumOut() != 1 || method.Type().Out(0).Kind() != reflect.String {
		return ""
	}
	return method.Call(nil)[0].String()
}
