package lw

import (
	"io"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

const (
	// These limits are the default and the maximum of ClientOptions.MaxFrame.
	defaultMaxFrame = 64 << 20
	maxFrameLimit   = 1 << 30 // larger texts would not fit the 32-bit offsets in Object
)

// decoder reads the body of one response, in JSON or protobuf. After an error, its methods do nothing, so callers need
// to check Err only once at the end.
type decoder interface {
	// list reads a list to its end. It scans each list item into o and then calls the callback item. It stops if the
	// callback returns false.
	list(meta *ListMeta, o *Scanned, item func() bool)

	// Begin blocks until the next watch event arrives. It returns false at the end of the stream.
	Begin() bool
	// event reads the next watch event into o. At the end of the stream it returns false, and Err returns io.EOF.
	event(o *Scanned) (EventType, bool)
	// status returns the error in the ERROR event that event read last: a *StatusError, or a *jsonscan.SyntaxError if the
	// event contains another object.
	status(o *Scanned) error

	Fail(err error) bool // records err, unless an error was recorded before
	Err() error          // returns the first error
	Release()            // returns the decoder's buffer to the pool
}

// scanner decodes JSON.
type scanner struct {
	*jsonscan.Reader
	redact redaction
}

type span = jsonscan.Span

func newScanner(body io.Reader, maxFrame int, progress func()) scanner {
	r := jsonscan.New(body, frameLimit(maxFrame))
	r.Progress = progress
	return scanner{Reader: r}
}

func frameLimit(maxFrame int) int {
	if maxFrame <= 0 {
		maxFrame = defaultMaxFrame
	}
	return min(maxFrame, maxFrameLimit)
}

// textScanner returns a scanner that reads a copy of text. Decoded strings may share the memory of the copy, because it
// never changes.
func textScanner(text []byte) scanner { return scanner{Reader: jsonscan.NewText(text, maxFrameLimit)} }

// wrongValue records an error for a value that is valid JSON but breaks the protocol. It returns false.
func (s scanner) wrongValue(at int, expected, found string) bool {
	return s.Fail(&jsonscan.SyntaxError{Offset: s.Offset(at), Expected: expected, Found: s.redact.text(found)})
}

// status implements decoder. It does not parse an object of more than 64 kB, because the error would contain the
// object's text.
func (s scanner) status(o *Scanned) error {
	found := "another object"
	if len(o.body) > maxErrorBody {
		found = "an object of more than 64 kB"
	} else if e := (&StatusError{}); e.parse(Value{string(o.body)}, s.redact) {
		return e
	}
	return &jsonscan.SyntaxError{Offset: s.Offset(0), Expected: "a Status in the ERROR event", Found: found}
}

// event reads the next watch event, {"type":…,"object":…}, into o.
func (s scanner) event(o *Scanned) (EventType, bool) {
	if !s.Begin() {
		return 0, false
	}
	var kind span
	start, end := -1, 0
	for more := s.Open('{', "a watch event"); more; more = s.More('}') {
		switch string(s.Key()) {
		case "type":
			kind = s.String("the event's type")
		case "object":
			s.Next()
			start = s.Pos()
			s.object(o)
			end = s.Pos()
		default:
			s.SkipValue()
		}
	}
	if !s.EndFrame() {
		return 0, false
	}
	if start < 0 {
		return 0, s.wrongValue(s.Pos()-1, "an \"object\" in the event", "none")
	}
	o.body = s.Part(start, end)
	name := s.Content(kind)
	eventType, known := wireType(name)
	if !known {
		return 0, s.wrongValue(kind.Start, "an event of type ADDED, MODIFIED, DELETED, BOOKMARK or ERROR", shorten([]byte(s.redact.text(string(name)))))
	}
	needsName := eventType == Added || eventType == Modified || eventType == Deleted
	if needsName && o.name.Start == o.name.End {
		return 0, s.wrongValue(start, "an object with metadata.name", "none")
	}
	return eventType, true
}

// object scans one object of the current frame and records its metadata in o. The spans in o are relative to the
// object's first byte.
func (s scanner) object(o *Scanned) {
	if cap(o.cuts) > maxCuts {
		o.cuts = nil
	}
	*o = Scanned{keep: o.keep, cuts: o.cuts[:0], managed: o.managed, missing: o.missing}
	start := s.Pos()
	trim := trimmer{start: start}
	for more := s.Open('{', "an object"); more; more = s.More('}') {
		name := trim.key(s)
		keep := o.keep.member(name)
		switch string(name) {
		case "metadata":
			s.metadata(o, start, keep)
		case "kind":
			s.stringField(&o.kind, start, "kind to be a string")
		case "apiVersion":
			s.stringField(&o.apiVersion, start, "apiVersion to be a string")
		default:
			s.value(o, start, keep)
		}
		trim.done(s, o, keep)
	}
}

// metadata reads the metadata of an object. start is the position of the object's first byte.
func (s scanner) metadata(o *Scanned, start int, keep *fields) {
	if s.null() {
		return
	}
	trim := trimmer{start: start}
	for more := s.Open('{', "metadata to be an object"); more; more = s.More('}') {
		name := trim.key(s)
		keep := keep.member(name)
		switch string(name) {
		case "name":
			s.stringField(&o.name, start, "metadata.name to be a string")
		case "namespace":
			s.stringField(&o.namespace, start, "metadata.namespace to be a string")
		case "uid":
			s.stringField(&o.uid, start, "metadata.uid to be a string")
		case "resourceVersion":
			s.stringField(&o.resourceVersion, start, "metadata.resourceVersion to be a string")
		case "annotations":
			s.annotations(o, start, keep)
		case "managedFields":
			if !o.managed {
				keep = selectNone
			}
			s.value(o, start, keep)
		default:
			s.value(o, start, keep)
		}
		trim.done(s, o, keep)
	}
}

// annotations reads metadata.annotations. If keep is selectNone, the caller cuts all annotations later. So annotations must
// not cut any of them itself, because cuts must be in order. It does not, because keep.member then returns nil.
func (s scanner) annotations(o *Scanned, start int, keep *fields) {
	if s.null() {
		return
	}
	trim := trimmer{start: start}
	for more := s.Open('{', "metadata.annotations to be an object"); more; more = s.More('}') {
		name := trim.key(s)
		keep := keep.member(name)
		if string(name) == "k8s.io/initial-events-end" {
			o.initialEventsEnd = string(s.Content(s.String("the initial-events-end annotation to be a string"))) == "true"
		} else {
			s.value(o, start, keep)
		}
		trim.done(s, o, keep)
	}
}

// null skips the value null and returns true. It returns false if the next value is not null.
func (s scanner) null() bool {
	if s.Next() != 'n' {
		return false
	}
	s.SkipValue()
	return true
}

// stringField reads a string and stores its span in field, relative to start, the object's first byte. It ignores null.
func (s scanner) stringField(field *span, start int, expected string) {
	if s.null() {
		return
	}
	at := s.String(expected)
	*field = span{Start: at.Start - start, End: at.End - start, Escaped: at.Escaped}
}

// shorten returns the first 32 bytes of text in quotes, for use in an error message.
func shorten(text []byte) string {
	const most = 32
	if len(text) > most {
		return "\"" + strings.ToValidUTF8(string(text[:most]), "") + "…\"" // without a part of a character at the end
	}
	return "\"" + string(text) + "\""
}

// maxCuts limits the slice of cuts that a stream reuses for the next object. Only a hostile object has more spans to
// cut, and the large slice for such an object must not stay in memory.
const maxCuts = 1 << 12

// trimmer records which members of an object to cut. The remaining text must be valid JSON, so a comma is cut together
// with each member. This is the comma before the member or, if no earlier member is kept, the comma after the member.
type trimmer struct {
	start  int  // position of the outermost object, to which spans are relative
	before int  // end of the text before the current member
	begun  bool // whether a member has been read
	kept   bool // whether a member has been kept
}

// key returns the name of the next member.
func (t *trimmer) key(s scanner) []byte {
	if !t.begun {
		t.begun = true
		t.before = s.Pos() - t.start
	}
	return s.Key()
}

// done cuts the member that the scanner has just read. If the selection `keep` includes the member's value or a part of
// it, done keeps the member.
func (t *trimmer) done(s scanner, o *Scanned, keep *fields) {
	end := s.Pos() - t.start
	if keep != selectNone {
		t.kept = true
	} else {
		if !t.kept && s.Next() == ',' {
			end = s.Pos() + 1 - t.start
		}
		o.cut(t.before, end)
	}
	t.before = end
}

// value reads a JSON value and records the spans to cut within it. If keep selects all of the value or nothing of it, value
// records no span, because the caller keeps or cuts the whole value. An array becomes empty if no elements are
// selected, and a string if a path of Project leads into it. If they were cut instead, the indexes in an array would
// change, or an earlier member with the same name would take effect.
func (s scanner) value(o *Scanned, start int, keep *fields) {
	if keep == nil || keep == selectNone {
		s.SkipValue()
		return
	}
	switch c := s.Next(); {
	case c == '{':
		trim := trimmer{start: start}
		for more := s.Open('{', "an object"); more; more = s.More('}') {
			keep := keep.member(trim.key(s))
			s.value(o, start, keep)
			trim.done(s, o, keep)
		}
	case c == '[' && keep.elements != selectNone:
		for more := s.Open('[', "an array"); more; more = s.More(']') {
			s.value(o, start, keep.elements)
		}
	default:
		from := s.Pos() + 1 - start
		s.SkipValue()
		if c == '[' || c == '"' && !keep.omits {
			o.cut(from, s.Pos()-1-start)
		}
	}
}

// ListMeta is the metadata of a list. It is complete only at the end of the list, because lists of custom resources
// send it after the items.
type ListMeta struct {
	ResourceVersion    string // resourceVersion of the list, from which a watch can start
	Continue           string // continue token of the next page, or "" on the last page
	RemainingItemCount int64  // approximate number of objects on later pages, or zero if unknown

	kind, apiVersion string
	verified         bool // the kinds of the items show that the list belongs to the resource
}

func (s scanner) list(meta *ListMeta, o *Scanned, item func() bool) {
	found := false
	more := s.Open('{', "a list")
	if s.Err() != nil {
		s.notList()
		return
	}
	for ; more; more = s.More('}') {
		switch string(s.Key()) {
		case "kind":
			meta.kind = s.freeText("the list's kind to be a string")
		case "apiVersion":
			meta.apiVersion = s.freeText("the list's apiVersion to be a string")
		case "metadata":
			s.listMeta(meta)
		case "items":
			found = true
			if !s.items(meta, o, item) {
				return
			}
		default:
			s.SkipValue()
		}
	}
	if s.Err() == nil && !found {
		s.wrongValue(s.Pos()-1, "a list with items", "an object of kind "+shorten([]byte(meta.kind)))
		s.notList()
	}
	if s.Err() == nil {
		s.End("the end of the body after the list")
	}
}

// notList marks the error as [ErrNotList], unless the response is truncated. It returns false.
func (s scanner) notList() bool {
	if e, ok := s.Err().(*jsonscan.SyntaxError); ok && e.Err == nil {
		e.Err = ErrNotList
	}
	return false
}

func (s scanner) listMeta(meta *ListMeta) {
	for more := s.Open('{', "the list's metadata to be an object"); more; more = s.More('}') {
		switch string(s.Key()) {
		case "resourceVersion":
			meta.ResourceVersion = s.freeText("the list's resourceVersion to be a string")
		case "continue":
			meta.Continue = s.freeText("the list's continue token to be a string")
		case "remainingItemCount":
			s.Mark() // keeps the number in the buffer until it is parsed
			s.SkipValue()
			meta.RemainingItemCount = Value{view(s.Frame())}.Int()
			s.Unmark()
		default:
			s.SkipValue()
		}
	}
}

// items reads a list's items. It returns false after an error, or if the callback item returns false. It accepts null,
// because old servers send it for an empty list.
func (s scanner) items(meta *ListMeta, o *Scanned, item func() bool) bool {
	if s.null() {
		return true
	}
	o.missing = newMissing(meta)
	more := s.Open('[', "items to be an array")
	if s.Err() != nil {
		return s.notList()
	}
	for ; more; more = s.More(']') {
		s.Mark()
		s.object(o)
		if !s.EndFrame() {
			return false
		}
		o.body = s.Frame()
		if o.name.Start == o.name.End {
			s.wrongValue(0, "an item with metadata.name", "none")
			return s.notList()
		}
		proceed := item()
		s.Unmark()
		if !proceed {
			return false
		}
	}
	return s.Err() == nil
}

// missing contains the JSON of the members that servers omit from list items, because they are the same for the whole
// list. Each member ends with a comma.
type missing struct{ kind, apiVersion, both string }

// newMissing derives the kind of the items from the kind of the list. For example, a PodList contains Pods. In a list of
// custom resources, the kind comes after the items, so it is not known yet. It is not needed there, because each of these
// items has its own kind.
func newMissing(list *ListMeta) (m missing) {
	if kind, ok := strings.CutSuffix(list.kind, "List"); ok && kind != "" && isPlain(kind) {
		m.kind = `"kind":"` + kind + `",`
	}
	if list.apiVersion != "" && isPlain(list.apiVersion) {
		m.apiVersion = `"apiVersion":"` + list.apiVersion + `",`
	}
	m.both = m.kind + m.apiVersion
	return m
}

// isPlain reports whether text can be in a JSON string without escape sequences.
func isPlain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' })
}

// freeText reads a string and returns a copy of its content, or "" for null. Unlike stringField, it also works outside
// of objects, where the reader does not keep the text that it has read.
func (s scanner) freeText(expected string) string {
	if s.null() {
		return ""
	}
	s.Mark()
	text := string(s.Content(s.String(expected)))
	s.Unmark()
	return text
}
