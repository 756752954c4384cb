package lw

import (
	"unsafe"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// Scanned is an object in the buffer of a stream. It is valid JSON, and its metadata was read. The Scanned and all slices that
// it returns are valid only during the call that received it. If a member occurs twice, the last one counts, as in
// encoding/json.
type Scanned struct {
	body                                  []byte // the object's text
	name, namespace, uid, resourceVersion span
	apiVersion, kind                      span
	keep                                  *fields // the selection of the codec; see cutsFor
	cuts                                  []span  // the parts to leave out so that keep remains, in the order of the text
	managed                               bool    // metadata.managedFields is kept if the codec keeps it
	initialEventsEnd                      bool    // the annotation k8s.io/initial-events-end is "true"
	missing                               missing // the members that an item of a list may lack
}

// Namespace, Name, UID and ResourceVersion return the metadata of that name. It is empty if the server sent none.
func (o *Scanned) Namespace() []byte       { return o.bytes(o.namespace) }
func (o *Scanned) Name() []byte            { return o.bytes(o.name) }
func (o *Scanned) UID() []byte             { return o.bytes(o.uid) }
func (o *Scanned) ResourceVersion() []byte { return o.bytes(o.resourceVersion) }

// Raw returns the object's JSON text exactly as the server sent it. It may have metadata.managedFields even if the client
// drops them.
func (o *Scanned) Raw() []byte { return o.body }

func (o *Scanned) bytes(at span) []byte {
	if at.Escaped {
		return jsonscan.Unescape(nil, o.body[at.Start:at.End])
	}
	return o.body[at.Start:at.End]
}

// prefix returns the kind and apiVersion members that the object lacks. Servers leave them out of the items of built-in
// lists. Watch events have them in this order.
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

// text copies the object's text, with prefix and without cuts. An object's bytes are copied only here.
//
// Concatenation does not clear the memory first, unlike append to a new slice. It may return a single operand unchanged, so
// a view of the buffer is always concatenated with other text.
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

// AppendText appends the text of the object that RawCodec decodes to b. The text has kind and apiVersion.
func (o *Scanned) AppendText(b []byte) []byte { return o.appendText(b, o.prefix(), o.cutsFor(nil)) }

// appendText appends the result of the method text to b.
func (o *Scanned) appendText(b []byte, prefix string, cuts []span) []byte {
	b = append(append(b, '{'), prefix...)
	from := 1
	for _, cut := range cuts {
		b = append(b, o.body[from:cut.Start]...)
		from = cut.End
	}
	return append(b, o.body[from:]...)
}

// isText reports whether text equals the result of the method text.
func (o *Scanned) isText(text, prefix string, cuts []span) bool {
	matches := true
	next := func(part string) {
		if matches = matches && len(text) >= len(part) && text[:len(part)] == part; matches {
			text = text[len(part):]
		}
	}
	next("{")
	next(prefix)
	from := 1
	for _, cut := range cuts {
		next(view(o.body[from:cut.Start]))
		from = cut.End
	}
	next(view(o.body[from:]))
	return matches && text == ""
}

// view returns bytes as a string without a copy. The bytes must not change while it is in use.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
