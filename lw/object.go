package lw

import (
	"iter"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// Keyed is what the engine asks of an object. *[Object] has it, and so has every generated Kubernetes type.
type Keyed interface {
	GetNamespace() string
	GetName() string
	GetResourceVersion() string
}

// Key names one object in a collection. Namespace is empty for objects that live in none.
type Key struct{ Namespace, Name string }

// KeyOf returns the key of an object.
func KeyOf(o Keyed) Key { return Key{Namespace: o.GetNamespace(), Name: o.GetName()} }

// String returns "namespace/name", or "name" for an object that lives in no namespace.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// Object is one API object: its JSON as the server sent it, with the metadata that every client needs already read out.
// It is immutable and safe to share. Other fields are read from the text each time that they are asked for.
//
// The text has the kind and apiVersion that servers leave out of list items, so that an object is the same whether it
// came by list or by watch; it lacks metadata.managedFields, unless the codec was told to keep them.
type Object struct {
	raw                                   string
	namespace, name, uid, resourceVersion part
}

// part is a string in an object's text. It takes half the memory of a string and no pointer, which matters for each object
// of a store.
type part struct {
	start uint32
	size  int32 // below zero: it has escape sequences and takes -size bytes
}

func (o *Object) part(at part) string {
	if at.size < 0 {
		return o.unescaped(at)
	}
	return o.raw[at.start : at.start+uint32(at.size)]
}

// unescaped is not inlined, so that the method part is. Names of Kubernetes objects have no escape sequences.
//
//go:noinline
func (o *Object) unescaped(at part) string {
	return string(jsonscan.Unescape(nil, []byte(o.raw[at.start:at.start+uint32(-at.size)])))
}

// newObject copies a scanned object without cuts. The cuts must not overlap the metadata that each object keeps.
func newObject(s *Scanned, cuts []span) *Object {
	prefix := s.prefix()
	return objectOf(s, s.text(prefix, cuts), len(prefix), cuts)
}

// objectOf returns an object with the text raw: the scanned text without cuts, behind a prefix of so many bytes.
func objectOf(s *Scanned, raw string, prefix int, cuts []span) *Object {
	find := func(at span) part {
		start := at.Start + prefix
		for _, cut := range cuts {
			if cut.Start > at.Start {
				break
			}
			start -= cut.End - cut.Start
		}
		size := int32(at.End - at.Start)
		if at.Escaped {
			size = -size
		}
		return part{uint32(start), size}
	}
	return &Object{
		raw:             raw,
		namespace:       find(s.namespace),
		name:            find(s.name),
		uid:             find(s.uid),
		resourceVersion: find(s.resourceVersion),
	}
}

// ParseObject reads one object from JSON and keeps managedFields. The error is a *[MalformedError] or a *[FrameTooLargeError].
func ParseObject(text []byte) (*Object, error) {
	s := textScanner(text)
	var scanned Scanned
	s.Mark()
	s.object(&scanned)
	if !s.EndFrame() {
		return nil, s.failure()
	}
	scanned.body = s.Frame()
	object := objectOf(&scanned, view(scanned.body), 0, nil)
	if !s.End("the end of the text") {
		return nil, s.failure()
	}
	return object, nil
}

// GetNamespace, GetName, GetUID and GetResourceVersion return the metadata of that name.
func (o *Object) GetNamespace() string       { return o.part(o.namespace) }
func (o *Object) GetName() string            { return o.part(o.name) }
func (o *Object) GetUID() string             { return o.part(o.uid) }
func (o *Object) GetResourceVersion() string { return o.part(o.resourceVersion) }

// Key returns the object's namespace and name.
func (o *Object) Key() Key { return Key{Namespace: o.GetNamespace(), Name: o.GetName()} }

// String names the object, as "Secret shop/token@7", and tells nothing of its content, so that it can be logged.
func (o *Object) String() string {
	return o.Kind() + " " + o.Key().String() + "@" + o.GetResourceVersion()
}

// Raw returns the object's JSON text.
func (o *Object) Raw() string { return o.raw }

// Equal reports whether two objects are the same text.
func (o *Object) Equal(other *Object) bool { return o == other || o.raw == other.raw }

// Get returns the field at a path such as "status.phase"; see [Value.Get].
func (o *Object) Get(path string) Value { return Value(o.raw).Get(path) }

// Kind and APIVersion return the object's type, as "Pod" and "v1".
func (o *Object) Kind() string       { return o.Get("kind").String() }
func (o *Object) APIVersion() string { return o.Get("apiVersion").String() }

// Label returns one label's value, and whether the object has it.
func (o *Object) Label(name string) (string, bool) {
	value := o.Get("metadata.labels").Member(name)
	return value.String(), value.Exists()
}

// Labels iterates over the labels, in the text's order.
func (o *Object) Labels() iter.Seq2[string, string] { return o.texts("metadata.labels") }

// Annotation returns one annotation's value, and whether the object has it.
func (o *Object) Annotation(name string) (string, bool) {
	value := o.Get("metadata.annotations").Member(name)
	return value.String(), value.Exists()
}

// Annotations iterates over the annotations, in the text's order.
func (o *Object) Annotations() iter.Seq2[string, string] { return o.texts("metadata.annotations") }

func (o *Object) texts(path string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for name, value := range o.Get(path).Members() {
			if !yield(name, value.String()) {
				return
			}
		}
	}
}

// OwnerReference names the owner of an object, which lives in the same namespace or in none.
type OwnerReference struct {
	APIVersion, Kind, Name, UID string
	Controller                  bool // this owner is the managing controller
}

// OwnerReferences iterates over the object's owners.
func (o *Object) OwnerReferences() iter.Seq[OwnerReference] {
	return func(yield func(OwnerReference) bool) {
		for ref := range o.Get("metadata.ownerReferences").Elements() {
			owner := OwnerReference{
				APIVersion: ref.Get("apiVersion").String(),
				Kind:       ref.Get("kind").String(),
				Name:       ref.Get("name").String(),
				UID:        ref.Get("uid").String(),
				Controller: ref.Get("controller").Bool(),
			}
			if !yield(owner) {
				return
			}
		}
	}
}
