package lw

import (
	"strings"
	"unsafe"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

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
	missing                               missing // members that a list item may inherit from its list
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

// prefix returns the JSON of the kind and apiVersion members that are missing from the object. kind comes first, as in
// watch events. Servers omit both members from the items of built-in lists.
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

// text returns a copy of the object's text that starts with the members in prefix and omits the spans in cuts.
//
// Concatenation is faster than append, which clears the memory first. Both operands must be non-empty, because
// otherwise the result may share the memory of the buffer.
func (o *Scanned) text(prefix string, cuts []span) string {
	switch {
	case len(cuts) == 0 && prefix == "":
		return string(o.body)
	case len(cuts) == 0:
		return "{" + prefix + view(o.body[1:])
	case len(cuts) == 1 && prefix == "":
		return view(o.body[:cuts[0].Start]) + view(o.body[cuts[0].End:])
	case len(cuts) == 1:
		return "{" + prefix + view(o.body[1:cuts[0].Start]) + view(o.body[cuts[0].End:])
	}
	size := len(prefix) + len(o.body)
	for _, cut := range cuts {
		size -= cut.End - cut.Start
	}
	return view(o.appendText(make([]byte, 0, size), prefix, cuts))
}

// AppendText appends to b the text of the object that RawCodec would return, including kind and apiVersion.
func (o *Scanned) AppendText(b []byte) []byte { return o.appendText(b, o.prefix(), o.cutsFor(nil)) }

// appendText appends o.text(prefix, cuts) to b.
func (o *Scanned) appendText(b []byte, prefix string, cuts []span) []byte {
	b = append(append(b, '{'), prefix...)
	from := 1
	for _, cut := range cuts {
		b = append(b, o.body[from:cut.Start]...)
		from = cut.End
	}
	return append(b, o.body[from:]...)
}

// isText reports whether text equals o.text(prefix, cuts), without building that string.
func (o *Scanned) isText(text, prefix string, cuts []span) bool {
	matches := true
	match := func(part string) {
		var found bool
		text, found = strings.CutPrefix(text, part)
		matches = matches && found
	}
	match("{")
	match(prefix)
	from := 1
	for _, cut := range cuts {
		match(view(o.body[from:cut.Start]))
		from = cut.End
	}
	match(view(o.body[from:]))
	return matches && text == ""
}

// view returns b as a string without a copy. The bytes must not change while the string is in use.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
