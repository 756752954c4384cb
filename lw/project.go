package lw

// Projection is a [Codec] that decodes each object into an [*Object] with selected fields only. [Project] returns one. It is
// safe for concurrent use.
type Projection struct{ keep *fields }

// Project returns a codec whose objects have only the fields at the paths, for example "metadata.labels", "spec.nodeName" or
// "spec.containers[*].image". [Object.Get] reads these fields as from the whole object. A path is that of [Value.Get], with
// [*] for all elements of an array. A malformed path returns a *[PathError].
//
// A path selects a field with everything in it. Objects always have apiVersion, kind, metadata.name, metadata.namespace,
// metadata.uid and metadata.resourceVersion. The path "metadata" does not include metadata.managedFields.
//
// The fields keep their nesting and order, for example {"spec":{"nodeName":"n1"}}. An array keeps all of its elements, so
// that indexes stay valid. If a path leads through a value of the wrong type, a string, array or object there becomes empty.
// Any other value stays.
func Project(paths ...string) (*Projection, error) {
	metadata := &fields{
		// managedFields come first, see nameMetadata.
		members: []field{{"managedFields", nothing}, {name: "name"}, {name: "namespace"}, {name: "uid"}, {name: "resourceVersion"}},
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
			metadata.members, metadata.others = metadata.members[:1], nil
			continue
		}
		root.add(steps)
	}
	return &Projection{keep: root}, nil
}

// Decode copies what is named: two allocations.
func (p *Projection) Decode(s *Scanned) (*Object, error) {
	return newObject(s, s.cutsFor(p.keep)), nil
}

// AppendText appends to b the text of the object that Decode would make, for a codec around this one that keeps no objects.
func (p *Projection) AppendText(b []byte, s *Scanned) []byte {
	return s.appendText(b, s.prefix(), s.cutsFor(p.keep))
}

// Same reports whether Decode would return an equal object.
func (p *Projection) Same(o *Object, s *Scanned) bool {
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
			return nil, &PathError{Path: path, Offset: at, Expected: expected}
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

// DropsManagedFields tells a client that the server need not send metadata.managedFields, unless a path names them.
func (p *Projection) DropsManagedFields() bool {
	return p.keep.member([]byte("metadata")).member([]byte("managedFields")) == nothing
}
