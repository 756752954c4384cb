package lw

import "slices"

// Codec decodes the objects that a [Client] receives. It must be safe for concurrent use.
type Codec[T any] interface {
	// Decode returns the decoded object. It must copy all data that the object keeps, because the Scanned is valid only
	// during the call.
	Decode(*Scanned) (T, error)

	// Identity returns the functions that compare objects.
	Identity() Identity[T]
}

// Identity compares objects of type T. If UID or Equal is nil and T has a method with the signature below, a store
// calls that method instead.
type Identity[T any] struct {
	// UID returns metadata.uid, or "" if it is missing. If an object's UID differs from the UID that the store holds, the
	// store reports the object as recreated. The method of T is GetUID() string.
	UID func(T) string
	// Equal reports whether two objects with the same key, UID and resourceVersion are equal. The method of T is Equal(T)
	// bool. If there is neither a function nor a method, such objects count as equal.
	Equal func(a, b T) bool
	// Same reports whether [Codec].Decode would return an object that equals object. The client calls Same if the caller
	// already holds an object with the key, UID and resourceVersion of s. If Same returns true, the client yields the
	// caller's object instead of decoding s. The two can differ although their resourceVersions are equal, for example
	// after a backup was restored. If Same is nil, they count as equal.
	Same func(object T, s *Scanned) bool
}

// RawCodec decodes objects into [Object] values, which hold their JSON text. The zero value keeps all fields. [Project]
// and [Omit] return a RawCodec that keeps only some fields, to save memory.
type RawCodec struct{ keep *fields }

// Decode copies the fields that the codec keeps. It never returns an error.
func (c RawCodec) Decode(s *Scanned) (*Object, error) { return newObject(s, s.cutsFor(c.keep)), nil }

// AppendText appends to b the text of the object that Decode would return.
func (c RawCodec) AppendText(b []byte, s *Scanned) []byte {
	return s.appendText(b, s.prefix(), s.cutsFor(c.keep))
}

// Identity implements [Codec]. Its functions compare UIDs and the text of objects.
func (c RawCodec) Identity() Identity[*Object] {
	return Identity[*Object]{UID: (*Object).GetUID, Equal: (*Object).Equal, Same: func(o *Object, s *Scanned) bool {
		return s.isText(o.raw, s.prefix(), s.cutsFor(c.keep))
	}}
}

// Project returns a codec that keeps only the fields at the given paths, for example "metadata.labels", "spec.nodeName"
// or "spec.containers[*].image". Paths use the same syntax as [Value.Get], except that the only valid index is [*],
// which selects all elements. Project returns an error if a path is malformed.
//
// A path selects a field with all its contents. Every object also keeps apiVersion, kind, metadata.name,
// metadata.namespace, metadata.uid and metadata.resourceVersion. For a path into metadata.managedFields, set
// KeepManagedFields in [ClientOptions]. Otherwise [NewClient] returns an error.
//
// The selected fields keep their nesting and order, for example {"spec":{"nodeName":"n1"}}. An array keeps all
// elements, so that their indexes stay valid. A value along a path may have an unexpected type. A string, array or
// object then becomes empty, and any other value stays unchanged.
func Project(paths ...string) (RawCodec, error) {
	metadata := &fields{
		members: []field{{name: "name"}, {name: "namespace"}, {name: "uid"}, {name: "resourceVersion"}},
		others:  selectNone, elements: selectNone,
	}
	root := &fields{
		members: []field{{"metadata", metadata}, {name: "apiVersion"}, {name: "kind"}},
		others:  selectNone, elements: selectNone,
	}
	for _, path := range paths {
		steps, err := projectionSteps(path)
		if err != nil {
			return RawCodec{}, err
		}
		// mark would replace the selection of metadata with nil, but namesManagedFields reads its members.
		if len(steps) == 1 && steps[0].name == "metadata" {
			metadata.members, metadata.others = nil, nil
			continue
		}
		root.mark(steps, nil)
	}
	return RawCodec{keep: root}, nil
}

// Omit returns a codec that drops the fields at the given paths, for example "metadata.annotations", "status" or
// "spec.containers[*].env". Paths use the same syntax as in [Project]. Omit returns an error if a path is malformed, or
// if it names a field that every object needs: apiVersion, kind, metadata, or the name, namespace, uid or
// resourceVersion in metadata.
//
// All other values stay unchanged, even if a value along a path has an unexpected type.
func Omit(paths ...string) (RawCodec, error) {
	root := &fields{omits: true}
	for _, path := range paths {
		steps, err := projectionSteps(path)
		if err != nil {
			return RawCodec{}, err
		}
		if needed(steps) {
			return RawCodec{}, &pathError{Path: path, Expected: "a field that objects can lack"}
		}
		root.mark(steps, selectNone)
	}
	return RawCodec{keep: root}, nil
}

// needed reports whether a path names a field that every object needs.
func needed(steps []pathStep) bool {
	switch {
	case len(steps) == 1:
		name := steps[0].name
		return name == "metadata" || name == "apiVersion" || name == "kind"
	case len(steps) == 2 && steps[0].name == "metadata":
		name := steps[1].name
		return name == "name" || name == "namespace" || name == "uid" || name == "resourceVersion"
	}
	return false
}

// projectionSteps splits a path into steps. It rejects an index, because a projection selects the same fields of all
// elements.
func projectionSteps(path string) (steps []pathStep, err error) {
	for rest := path; rest != "" || len(steps) == 0; {
		at := len(path) - len(rest)
		first, remaining, expected := cutStep(rest)
		switch {
		case expected != "":
			at = len(path) - len(remaining)
		case len(steps) == 0 && first.kind != toMember:
			expected = "a member name"
		case first.kind == toElement:
			expected = "[*] instead of an index"
		}
		if expected != "" {
			return nil, &pathError{Path: path, Offset: at, Expected: expected}
		}
		steps, rest = append(steps, first), remaining
	}
	return steps, nil
}

// mark adds a path to the selection f and returns the resulting selection. It may modify f. leaf is the selection for
// the value at the end of the path: nil keeps that value, and selectNone drops it. Siblings along the path get the
// opposite selection if no other path has selected them.
func (f *fields) mark(steps []pathStep, leaf *fields) *fields {
	if f == leaf || len(steps) == 0 { // an earlier path has selected the whole value, or this path ends here
		return leaf
	}
	beside := selectNone
	if leaf == selectNone {
		beside = nil
	}
	if f == beside {
		f = &fields{others: beside, elements: beside, omits: leaf == selectNone}
	}
	first, rest := steps[0], steps[1:]
	if first.kind == toEveryElement {
		f.elements = f.elements.mark(rest, leaf)
		return f
	}
	for i := range f.members {
		if member := &f.members[i]; member.name == first.name {
			member.keep = member.keep.mark(rest, leaf)
			return f
		}
	}
	f.members = append(f.members, field{first.name, f.others.mark(rest, leaf)})
	return f
}

// namesManagedFields reports whether a selected path is in metadata.managedFields. The first member of a projection is
// metadata; see Project.
func (c RawCodec) namesManagedFields() bool {
	if c.keep == nil || c.keep.omits {
		return false
	}
	return slices.ContainsFunc(c.keep.members[0].keep.members, func(f field) bool { return f.name == "managedFields" })
}

// fields selects parts of a JSON value. A nil *fields keeps the whole value. Any other *fields contains a selection for
// each member of an object, and one selection for all elements of an array.
type fields struct {
	members  []field
	others   *fields // selection for members whose names are not in members
	elements *fields
	omits    bool // set by Omit, so that a value of an unexpected type stays unchanged
}

// field contains the name of a member and the selection for the member's value.
type field struct {
	name string
	keep *fields
}

// selectNone is the selection that removes the whole value. Its method member returns nil, because the caller cuts the
// whole value itself.
var selectNone = &fields{}

// member returns the selection for the member with this name.
func (f *fields) member(name []byte) *fields {
	if f == nil {
		return nil
	}
	for i := range f.members {
		if f.members[i].name == string(name) {
			return f.members[i].keep
		}
	}
	return f.others
}
