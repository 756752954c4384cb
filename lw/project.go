package lw

// projection is the codec that [Project] returns.
type projection struct{ keep *fields }

// Project returns a codec that keeps the fields at the paths, which are those of [Value.Get] with [*] for an array's every
// element, as in "metadata.labels", "spec.nodeName" or "spec.containers[*].image". It returns an error for a malformed path.
//
// An object keeps its nesting and order: {"spec":{"nodeName":"n1"}}. A field that is named is kept whole, though also
// named in part. apiVersion, kind, and metadata's name, namespace, uid and resourceVersion always stay. A path into
// metadata.managedFields needs [ClientOptions].KeepManagedFields, and NewClient returns an error without it.
//
// What is on the way to a field stays without the rest of its members, if need be as {}. So every element of an array
// keeps its index, which is why a single one cannot be named: it is [*] in place of [0]. What no path can enter, such as a
// string where an object is expected, stays as null, a number, true or false, or else emptied: "", [] or {}. With that
// a named path reads the same from the object as from the whole one, duplicates of a member included.
func Project(paths ...string) (Codec[*Object], error) {
	metadata := &fields{
		members: []field{{name: "name"}, {name: "namespace"}, {name: "uid"}, {name: "resourceVersion"}},
		others:  nothing, elements: nothing,
	}
	root := &fields{
		members: []field{{"metadata", metadata}, {name: "apiVersion"}, {name: "kind"}},
		others:  nothing, elements: nothing,
	}
	for _, path := range paths {
		steps, err := projectionSteps(path)
		if err != nil {
			return nil, err
		}
		if len(steps) == 1 && steps[0].name == "metadata" {
			metadata.members, metadata.others = nil, nil
			continue
		}
		root.add(steps)
	}
	return &projection{keep: root}, nil
}

// Decode copies the fields of the projection. It makes two allocations.
func (p *projection) Decode(s *Scanned) (*Object, error) {
	return newObject(s, s.cutsFor(p.keep)), nil
}

// AppendText appends the text that Decode copies to b.
func (p *projection) AppendText(b []byte, s *Scanned) []byte {
	return s.appendText(b, s.prefix(), s.cutsFor(p.keep))
}

// Same reports whether Decode would return an equal object.
func (p *projection) Same(o *Object, s *Scanned) bool {
	return s.isText(o.raw, s.prefix(), s.cutsFor(p.keep))
}

func projectionSteps(path string) (steps []step, err error) {
	for rest := path; rest != "" || len(steps) == 0; {
		at := len(path) - len(rest)
		first, next, expected := cutStep(rest)
		switch {
		case expected != "":
			at = len(path) - len(next)
		case len(steps) == 0 && first.kind != toMember:
			expected = "a member name"
		case first.kind == toElement:
			expected = "[*], as a projection keeps the index of every element,"
		}
		if expected != "" {
			return nil, &pathError{Path: path, Offset: at, Expected: expected}
		}
		steps, rest = append(steps, first), next
	}
	return steps, nil
}

// add returns what stays when, besides, the field stays that the steps lead to.
func (f *fields) add(steps []step) *fields {
	if f == nil || len(steps) == 0 {
		return nil
	}
	if f == nothing {
		f = &fields{others: nothing, elements: nothing}
	}
	first, rest := steps[0], steps[1:]
	if first.kind == toEveryElement {
		f.elements = f.elements.add(rest)
		return f
	}
	for i := range f.members {
		if member := &f.members[i]; member.name == first.name {
			member.keep = member.keep.add(rest)
			return f
		}
	}
	f.members = append(f.members, field{first.name, f.others.add(rest)})
	return f
}

// namesManagedFields reports whether a path leads into metadata.managedFields.
func (p *projection) namesManagedFields() bool {
	for _, member := range p.keep.members[0].keep.members {
		if member.name == "managedFields" {
			return true
		}
	}
	return false
}
