// Package codec decodes objects into Go structs: custom structs, or the types of k8s.io/api.
//
//	pods, err := codec.ResourceOf(&corev1.Pod{}, "default")
//	…
//	client, err := lw.NewClient(transport, pods, codec.JSON[*corev1.Pod](nil), nil)
//
// A struct needs the three methods of [lw.Keyed], and json tags for the fields to decode. Other fields of an object are
// skipped, so a small struct saves memory.
//
// # Decoding rules
//
// JSON is decoded as in encoding/json, with the same exceptions as in Kubernetes. Member names are case-sensitive. In a
// field of type any, an integer that fits is an int64, and any other number is a float64. All values are copies. Custom
// UnmarshalJSON and UnmarshalText methods are called, except that metav1.Time and metav1.MicroTime have a faster method.
//
// This package uses json-iterator only for structs with an embedded pointer, an embedded unexported struct with a JSON
// name, the tag option ",string" or two fields with the same name. Do not register global json-iterator extensions,
// because they would affect only such structs. Package lw validates the JSON first.
//
// One difference from encoding/json remains. If two fields at different embedding depths have the same JSON name and
// only one of them has a tag, the results differ. No Kubernetes type has such fields.
//
// # Encoding
//
// Use Marshal of encoding/json. Marshal of json-iterator ignores omitzero and does not validate the output of
// MarshalJSON methods.
package codec

import (
	"reflect"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// JSON returns a codec of T, a pointer to a struct. It is safe for concurrent use. If the struct is a built-in Kubernetes
// type, decoding another kind or apiVersion fails.
//
// transform, if not nil, is called with each decoded object and returns the object to keep. It may modify its argument.
// The result must not be nil and must have the same namespace, name and resourceVersion.
//
// Decoded objects have a kind and apiVersion even if the items of a list omit them. They have metadata.managedFields
// only if lw.ClientOptions.KeepManagedFields is set.
//
// After a relist, an object with the same key, UID and resourceVersion counts as unchanged, because a comparison would
// need the JSON of each object and double the memory. To choose the Go type of each object at run time, write a codec
// that calls [Into] and returns the Identity of a JSON codec.
func JSON[T lw.Keyed](transform func(T) T) lw.Codec[T] { return asJSON[T]{transform} }

type asJSON[T lw.Keyed] struct{ transform func(T) T }

// Decode implements [lw.Codec]. The error is a *[fieldError].
func (c asJSON[T]) Decode(s *lw.Scanned) (T, error) {
	var none T
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Pointer {
		return none, errNew
	}
	text, _ := lw.RawCodec{}.Decode(s) // adds kind and apiVersion and drops managedFields; never fails
	object := reflect.New(t.Elem()).Interface().(T)
	if err := Into(text, object); err != nil {
		return none, err
	}
	if c.transform != nil {
		object = c.transform(object)
	}
	return object, checkKey(object, s)
}

// Identity implements [lw.Codec]. It reads the UID from the field with the JSON path metadata.uid, or calls the method
// GetUID, whose result may have any string type.
func (asJSON[T]) Identity() lw.Identity[T] { return lw.Identity[T]{UID: uidOf[T]} }

// Into decodes an object into the struct that pointer points to. Use it if your program keeps objects as JSON and needs
// a struct only occasionally. The error is a *[fieldError].
func Into(o *lw.Object, pointer any) error {
	into := reflect.ValueOf(pointer)
	if into.Kind() != reflect.Pointer || into.IsNil() {
		return errNew
	}
	p := planOf(into.Type())
	if err := p.elem.wire.check(o, into.Type()); err != nil {
		return err
	}
	r := newAnyReader(o.Raw())
	defer r.release()
	if p.elem.decode(r, into.Elem()); r.err != nil {
		r.err.field = strings.TrimPrefix(r.err.field, ".")
		return r.err
	}
	return nil
}

// errNew reports that the caller's type cannot hold a decoded object.
var errNew = &fieldError{expected: "a pointer to a struct", found: "another type"}

// checkKey returns an error if the metadata that the methods of object return differs from the metadata in s. The usual
// cause is that a tag or an embedded struct is missing. Without this check, all such objects would have the same empty
// key, and a store would keep only one of them.
func checkKey(object lw.Keyed, s *lw.Scanned) error {
	var field, method string
	switch {
	case object.GetNamespace() != string(s.Namespace()):
		field, method = "metadata.namespace", "GetNamespace"
	case object.GetName() != string(s.Name()):
		field, method = "metadata.name", "GetName"
	case object.GetResourceVersion() != string(s.ResourceVersion()):
		field, method = "metadata.resourceVersion", "GetResourceVersion"
	default:
		return nil
	}
	return &fieldError{field: field, expected: method + " to return this field", found: "another value"}
}
