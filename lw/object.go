package lw

import (
	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// Keyed is an object with a namespace, a name and a resourceVersion. *[Object] and all generated Kubernetes types
// implement it.
type Keyed interface {
	GetNamespace() string
	GetName() string
	GetResourceVersion() string
}

// Key identifies an object in a collection. Namespace is empty for cluster-scoped objects.
type Key struct{ Namespace, Name string }

// KeyOf returns the key of an object.
func KeyOf(o Keyed) Key { return Key{Namespace: o.GetNamespace(), Name: o.GetName()} }

// String returns "namespace/name", or "name" if the namespace is empty.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// Object is an API object. It holds the JSON text and decodes fields on demand. An Object is immutable and safe for
// concurrent use.
//
// The client adds kind and apiVersion to list items, because servers omit them. So a listed object and a watched object
// have the same text. By default the text does not contain metadata.managedFields.
type Object struct {
	raw                                   string
	namespace, name, uid, resourceVersion part
}

// part is the location of a string in an object's JSON text. It uses half the memory of a string and contains no
// pointer, which matters for large stores.
type part struct {
	start uint32
	size  int32 // if negative, the string has escape sequences and is -size bytes long
}

func (o *Object) part(at part) string {
	if at.size < 0 {
		return o.unescaped(at)
	}
	return o.raw[at.start : at.start+uint32(at.size)]
}

// unescaped decodes a string that has escape sequences. Names of Kubernetes objects have none. The function is not
// inlined, so that the compiler can inline part.
//
//go:noinline
func (o *Object) unescaped(at part) string {
	return string(jsonscan.Unescape(nil, []byte(o.raw[at.start:at.start+uint32(-at.size)])))
}

// newObject returns an object with a copy of the scanned text. The copy omits the spans in cuts, which must not overlap
// the metadata fields that Object stores.
func newObject(s *Scanned, cuts []span) *Object {
	prefix := s.prefix()
	return objectOf(s, s.text(prefix, cuts), len(prefix), cuts)
}

// objectOf returns an object with the JSON text raw: an inserted prefix of prefixLen bytes, then the scanned text
// without the spans in cuts.
func objectOf(s *Scanned, raw string, prefixLen int, cuts []span) *Object {
	find := func(at span) part {
		start := at.Start + prefixLen
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

// ParseObject parses the JSON text of an object. It keeps metadata.managedFields. The error is a *[MalformedError] or a
// *[FrameTooLargeError].
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

// GetNamespace returns metadata.namespace.
func (o *Object) GetNamespace() string { return o.part(o.namespace) }

// GetName returns metadata.name.
func (o *Object) GetName() string { return o.part(o.name) }

// GetUID returns metadata.uid.
func (o *Object) GetUID() string { return o.part(o.uid) }

// GetResourceVersion returns metadata.resourceVersion.
func (o *Object) GetResourceVersion() string { return o.part(o.resourceVersion) }

// Key returns the object's namespace and name.
func (o *Object) Key() Key { return Key{Namespace: o.GetNamespace(), Name: o.GetName()} }

// String returns the kind, key and resourceVersion of the object, for example "Secret shop/token@7". The result is safe
// to log.
func (o *Object) String() string {
	return o.Kind() + " " + o.Key().String() + "@" + o.GetResourceVersion()
}

// Raw returns the object's JSON text.
func (o *Object) Raw() string { return o.raw }

// Equal reports whether two objects have the same JSON text.
func (o *Object) Equal(other *Object) bool { return o == other || o.raw == other.raw }

// Get returns the value at a path such as "status.phase". See [Value.Get] for the syntax. The empty path returns the
// whole object.
func (o *Object) Get(path string) Value { return Value{o.raw}.Get(path) }

// Kind returns the kind of the object, for example "Pod".
func (o *Object) Kind() string { return o.Get("kind").String() }

// APIVersion returns the group and version of the object, for example "apps/v1".
func (o *Object) APIVersion() string { return o.Get("apiVersion").String() }

// Label returns the value of a label and reports whether the label exists.
func (o *Object) Label(name string) (string, bool) {
	value := o.Get("metadata.labels").Member(name)
	return value.String(), value.Exists()
}

// Annotation returns the value of an annotation and reports whether the annotation exists.
func (o *Object) Annotation(name string) (string, bool) {
	value := o.Get("metadata.annotations").Member(name)
	return value.String(), value.Exists()
}
