package lw

import (
	"iter"
	"strings"
	"unsafe"

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
// Servers omit kind and apiVersion in list items. The client adds them, so an object has the same text whether it was
// listed or watched. By default the text does not contain metadata.managedFields.
type Object struct {
	raw                                   string
	namespace, name, uid, resourceVersion part
}

// part is the location of a string in an object's JSON text. Compared with a string, it uses half the memory and
// contains no pointer for the garbage collector to follow, which matters for large stores.
type part struct {
	start uint32
	size  int32 // if negative, the string has escape sequences and is -size bytes long
}

func (o *Object) part(at part) string {
	if at.size < 0 { // rare, because the names of Kubernetes objects need no escape sequences
		return string(jsonscan.Unescape(nil, []byte(o.raw[at.start:at.start+uint32(-at.size)])))
	}
	return o.raw[at.start : at.start+uint32(at.size)]
}

// newObject returns an object with a copy of the scanned text. The copy omits the spans in cuts, which must not overlap
// the metadata fields that Object stores.
func newObject(s *Scanned, cuts []span) *Object {
	prefix := s.prefix()
	return objectOf(s, s.text(prefix, cuts), len(prefix), cuts)
}

// objectOf returns an object with the JSON text raw, which differs from the scanned text: a prefix of prefixLen bytes
// was inserted, and the spans in cuts were removed. objectOf adjusts the locations of the metadata accordingly.
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

// ParseObject parses the JSON text of an object. It keeps metadata.managedFields. The error matches
// [ErrInvalidResponse], or io.ErrUnexpectedEOF if the text is truncated.
func ParseObject(text []byte) (*Object, error) {
	s := textScanner(text)
	var scanned Scanned
	s.Mark()
	s.object(&scanned)
	if !s.EndFrame() {
		return nil, s.Err()
	}
	scanned.body = s.Frame()
	object := objectOf(&scanned, view(scanned.body), 0, nil)
	if !s.End("the end of the text") {
		return nil, s.Err()
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

// String returns the kind, key and resourceVersion of the object, for example "Secret shop/token@7". The result is safe
// to log.
func (o *Object) String() string {
	return o.Kind() + " " + KeyOf(o).String() + "@" + o.GetResourceVersion()
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

// CompareResourceVersions compares two resourceVersions of one collection. It returns -1 if a is older than b, 0 if
// they are equal, and +1 if a is newer. Only positive decimal numbers without leading zeros have an order
// (https://kep.k8s.io/5504). For other strings ok is false.
func CompareResourceVersions(a, b string) (order int, ok bool) {
	switch {
	case !ordered(a) || !ordered(b):
		return 0, false
	case a == b:
		return 0, true
	case len(a) < len(b), len(a) == len(b) && a < b:
		return -1, true
	}
	return 1, true
}

// versionRegressed reports whether next is known to be older than previous.
func versionRegressed(previous, next string) bool {
	order, ok := CompareResourceVersions(next, previous)
	return ok && order < 0
}

// ordered reports whether a resourceVersion can be compared with others.
func ordered(version string) bool { return isNumber(version) && version[0] != '0' }

// Scanned is a validated JSON object in the buffer of a stream. The Scanned and the slices that it returns are valid
// only during the call of [Codec].Decode. If a member occurs twice, the last value counts, as in encoding/json.
type Scanned struct {
	body                                  []byte // the text of the object
	name, namespace, uid, resourceVersion span
	apiVersion, kind                      span
	keep                                  *fields // selection of the fields that the codec keeps
	cuts                                  []span  // spans to remove from the text, in ascending order
	managed                               bool    // whether to keep metadata.managedFields if the codec selects it
	initialEventsEnd                      bool    // whether the annotation k8s.io/initial-events-end is "true"
	endKind                               string  // kind of a protobuf bookmark with this annotation; the object itself has no kind
	missing                               missing // members that a list item lacks and its list provides
}

// Namespace returns metadata.namespace, or an empty slice if it is missing.
func (o *Scanned) Namespace() []byte { return o.bytes(o.namespace) }

// Name returns metadata.name, or an empty slice if it is missing.
func (o *Scanned) Name() []byte { return o.bytes(o.name) }

// UID returns metadata.uid, or an empty slice if it is missing.
func (o *Scanned) UID() []byte { return o.bytes(o.uid) }

// ResourceVersion returns metadata.resourceVersion, or an empty slice if it is missing.
func (o *Scanned) ResourceVersion() []byte { return o.bytes(o.resourceVersion) }

// Raw returns the object's text as the server sent it. It may contain metadata.managedFields even if the client drops
// the field.
func (o *Scanned) Raw() []byte { return o.body }

func (o *Scanned) bytes(at span) []byte {
	if at.Escaped {
		return jsonscan.Unescape(nil, o.body[at.Start:at.End])
	}
	return o.body[at.Start:at.End]
}

// prefix returns the JSON of the kind and apiVersion members that are missing in the object. For example, items in
// lists of built-in types have neither. The kind comes first, as in watch events.
func (o *Scanned) prefix() string {
	switch noKind, noVersion := o.kind.End == 0, o.apiVersion.End == 0; {
	case noKind && noVersion:
		return o.missing.both
	case noKind:
		return o.missing.kind
	case noVersion:
		return o.missing.apiVersion
	}
	return ""
}

// cut adds the span from start to end to o.cuts, or extends the last span if they are adjacent. Spans must be added in
// ascending order.
func (o *Scanned) cut(start, end int) {
	if last := len(o.cuts) - 1; last >= 0 && o.cuts[last].End == start {
		o.cuts[last].End = end
	} else if start < end {
		o.cuts = append(o.cuts, span{Start: start, End: end})
	}
}

// cutsFor returns the spans to cut from the object, so that only the selection `keep` remains. If the last scan used
// another selection, cutsFor scans the object again. It then keeps the selection, so that the following objects need
// only one scan.
func (o *Scanned) cutsFor(keep *fields) []span {
	if o.keep != keep {
		reader := jsonscan.Within(o.body)
		again := Scanned{keep: keep, cuts: o.cuts, managed: o.managed}
		scanner{Reader: &reader}.object(&again)
		o.keep, o.cuts = keep, again.cuts
	}
	return o.cuts
}

// parts yields the parts of an object's text in order. The text begins with the members in prefix and omits the spans
// in cuts. The prefix may end with a comma, because list items always have a further member, metadata. The parts share the
// memory of o.body.
func (o *Scanned) parts(prefix string, cuts []span) iter.Seq[string] {
	return func(yield func(string) bool) {
		from := 1 // after the opening brace
		if !yield("{") || !yield(prefix) {
			return
		}
		for _, cut := range cuts {
			if !yield(view(o.body[from:cut.Start])) {
				return
			}
			from = cut.End
		}
		yield(view(o.body[from:]))
	}
}

// text joins the parts into a new string.
func (o *Scanned) text(prefix string, cuts []span) string {
	size := len(prefix) + len(o.body)
	for _, cut := range cuts {
		size -= cut.End - cut.Start
	}
	var b strings.Builder // unlike make, a Builder does not clear its memory first
	b.Grow(size)
	for part := range o.parts(prefix, cuts) {
		b.WriteString(part)
	}
	return b.String()
}

// appendText appends the parts to b.
func (o *Scanned) appendText(b []byte, prefix string, cuts []span) []byte {
	for part := range o.parts(prefix, cuts) {
		b = append(b, part...)
	}
	return b
}

// isText reports whether text equals the joined parts. It does not allocate, because it runs for every object of a
// relist.
func (o *Scanned) isText(text, prefix string, cuts []span) bool {
	for part := range o.parts(prefix, cuts) {
		var found bool
		if text, found = strings.CutPrefix(text, part); !found {
			return false
		}
	}
	return text == ""
}

// view returns b as a string without a copy. The bytes must not change while the string is in use.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
