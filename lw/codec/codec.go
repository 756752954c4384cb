// Package codec decodes objects into Go structs: a user's own, or those of k8s.io/api.
//
//	pods, err := codec.ResourceOf[*corev1.Pod]("default")
//	…
//	client, err := lw.NewClient(transport, pods, codec.JSON[*corev1.Pod]{}, nil)
//
// A struct needs the three methods of [lw.Keyed], and json tags for the fields that it wants; the rest of an object is
// skipped. It holds only what it has fields for, so a small struct is the way to a small store.
//
// # What is read, and how
//
// JSON is read as Kubernetes reads it, which is encoding/json with these differences: names of members are
// case-sensitive, and a number in an any is an int64 where it is written as an integer and fits, else a float64. All
// values are copies. Custom UnmarshalJSON and UnmarshalText methods are called. A global extension registered with
// json-iterator by another package takes part; do not register one.
//
// json-iterator reads the structs. What it gets wrong is kept from it: package lw validates the text first, and this
// package reads numbers, any and map keys itself, so that nothing that it returns depends on json-iterator's leniency.
// These differences remain, and none of them can come from a Kubernetes server or matters to Kubernetes' types:
//
//   - an object that has a member twice: which one counts, and whether the two are merged, depends on the type
//   - a number beyond a float64 in a member that the struct has no field for is refused in some places
//   - two fields of one JSON name at different depths of embedding, of which only one has a tag
//
// # The way back
//
// Use encoding/json's Marshal. json-iterator's ignores omitzero and writes what a MarshalJSON returns unseen, and a
// write is too rare for its speed to matter.
package codec

import (
	"reflect"
	"unsafe"

	jsoniter "github.com/json-iterator/go"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// JSON is the [lw.Codec] of T, a pointer to a struct or, with New, an interface type. The zero value is ready for use, by
// several goroutines at once. If the struct is a built-in Kubernetes type, an object of another kind or apiVersion is a
// *[KindError].
//
// An object has kind and apiVersion also when it came from a list whose items lack them. It has
// metadata.managedFields only if lw.ClientOptions.KeepManagedFields is set.
//
// It has no method Same, because comparing needs the text of the object, and keeping the text would double the memory. So a list
// takes an object that is held at the same key and resourceVersion for unchanged.
type JSON[T lw.Keyed] struct {
	// New, if set, returns the value into which an object is decoded. It must return another pointer for each call. T may then
	// be an interface type such as client.Object, whose concrete type is known only at run time.
	New func() T

	// Transform, if set, is given every object before it is kept, and returns what to keep: the object itself, changed, or
	// another of the same namespace, name and resource version. It owns the object, and must not return nil.
	Transform func(T) T
}

// api has no state but its cache of decoders by type.
var api = newAPI()

func newAPI() jsoniter.API {
	api := jsoniter.Config{CaseSensitive: true}.Froze()
	api.RegisterExtension(&exact{})
	return api
}

// Decode implements [lw.Codec]. The error is a *[KindError] or a *[FieldError].
func (c JSON[T]) Decode(s *lw.Scanned) (T, error) {
	text, err := lw.RawCodec{}.Decode(s)
	if err != nil {
		var none T
		return none, err
	}
	object, err := fromObject(text, c.New)
	if err != nil {
		return object, err
	}
	if c.Transform != nil {
		object = c.Transform(object)
	}
	return object, checkKey(object, s)
}

// FromObject decodes an object that is held as text, for programs that keep [lw.Object]s and want a struct now and then.
// The error is a *[KindError] or a *[FieldError].
func FromObject[T any](o *lw.Object) (T, error) { return fromObject[T](o, nil) }

// Into decodes an object that is held as text into a pointer whose type is known only at run time. The error is a *[KindError]
// or a *[FieldError].
func Into(o *lw.Object, pointer any) error {
	_, err := fromObject(o, func() any { return pointer })
	return err
}

// fromObject decodes into the value that create returns, or into a new T if create is nil.
func fromObject[T any](o *lw.Object, create func() T) (object T, err error) {
	text := wellFormed(o.Raw())
	into, t := any(&object), reflect.TypeFor[T]()
	if create != nil {
		object = create()
		into, t = any(object), reflect.TypeOf(object)
		if t == nil || t.Kind() != reflect.Pointer {
			return object, errNew
		}
	}
	if err = checkKind(t, text); err == nil {
		if decode(text, into) {
			return object, nil
		}
		err = locate(text, t)
	}
	var none T
	return none, err
}

// errNew reports a JSON.New that returns no pointer, or that is missing for an interface type.
var errNew = &FieldError{Expected: "JSON.New to return a pointer", Found: "none"}

// decode reads text that is known to be valid into a pointer, and reports whether it fits.
func decode(text string, into any) bool {
	// The bytes are the string's own: json-iterator only reads them.
	return api.Unmarshal(unsafe.Slice(unsafe.StringData(text), len(text)), into) == nil
}

// checkKey finds structs that do not read the metadata which the engine goes by, for want of a tag or an embedded struct:
// in a store all of their objects would be one.
func checkKey(object lw.Keyed, s *lw.Scanned) error {
	for _, check := range []struct {
		field, method, has string
		want               []byte
	}{
		{"metadata.namespace", "GetNamespace", object.GetNamespace(), s.Namespace()},
		{"metadata.name", "GetName", object.GetName(), s.Name()},
		{"metadata.resourceVersion", "GetResourceVersion", object.GetResourceVersion(), s.ResourceVersion()},
	} {
		if check.has != string(check.want) {
			return &FieldError{Field: check.field, Expected: check.method + " to return it", Found: "another value"}
		}
	}
	return nil
}
