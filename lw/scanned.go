package lw

import (
	"unsafe"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// Scanned is an object that the scanner has just validated and read the metadata of, still in the buffer of the stream.
// It, and every slice that it gives, is valid only during the call that received it. The fields are read from the text
// as the server sent it; duplicates of a member count as encoding/json counts them, the last one wins.
type Scanned struct {
	body                                  []byte // the object's text
	name, namespace, uid, resourceVersion span
	apiVersion, kind                      span
	keep                                  *fields // what the codec before kept of an object; see cutsFor
	cuts                                  []span  // what to leave out so that keep stays, in the text's order
	initialEventsEnd                      bool    // the annotation k8s.io/initial-events-end is "true"
	missing                               missing // what an item of a list gets when it lacks it
}

// Namespace, Name, UID and ResourceVersion return the metadata of that name; empty where the server sent none.
func (o *Scanned) Namespace() []byte       { return o.bytes(o.namespace) }
func (o *Scanned) Name() []byte            { return o.bytes(o.name) }
func (o *Scanned) UID() []byte             { return o.bytes(o.uid) }
func (o *Scanned) ResourceVersion() []byte { return o.bytes(o.resourceVersion) }

// Raw returns the object's JSON text exactly as the server sent it.
func (o *Scanned) Raw() []byte { return o.body }

func (o *Scanned) bytes(at span) []byte {
	if at.Escaped {
		return jsonscan.Unescape(nil, o.body[at.Start:at.End])
	}
	return o.body[at.Start:at.End]
}

// prefix returns what must stand before the object's members so that it has a kind and an apiVersion: a real server
// leaves both out of the items of its built-in lists, and puts them into watch events, in this order.
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

// text copies the object's text, with prefix and without cuts. It is the one copy that is made of an object's bytes.
//
// Concatenation, unlike append to a new slice, does not clear the memory first. As it may return a single operand
// unchanged, a view of the buffer is only given to it beside other text.
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

// appendText appends to b what the method text would return.
func (o *Scanned) appendText(b []byte, prefix string, cuts []span) []byte {
	b = append(append(b, '{'), prefix...)
	from := 1
	for _, cut := range cuts {
		b = append(b, o.body[from:cut.Start]...)
		from = cut.End
	}
	return append(b, o.body[from:]...)
}

// isText reports whether text is what the method text would return.
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

// view is the text of bytes that nobody will change while it is in use.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
