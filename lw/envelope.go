package lw

import (
	"io"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

const (
	defaultMaxFrame = 64 << 20
	maxFrameLimit   = 1 << 30 // largest possible limit, because Object stores 32-bit offsets
)

// scanner reads watch events, lists and objects from JSON. After an error its methods do nothing.
type scanner struct{ *jsonscan.Reader }

type span = jsonscan.Span

// newScanner returns a scanner for a response body. The caller must call Release.
func newScanner(body io.Reader, maxFrame int) scanner {
	return scanner{jsonscan.New(body, frameLimit(maxFrame))}
}

func frameLimit(maxFrame int) int {
	if maxFrame <= 0 {
		maxFrame = defaultMaxFrame
	}
	return min(maxFrame, maxFrameLimit)
}

// textScanner returns a scanner that reads a copy of text. Decoded strings may share the memory of the copy, because it
// never changes.
func textScanner(text []byte) scanner { return scanner{jsonscan.NewText(text, maxFrameLimit)} }

// failure returns the scanner's error, converted to an error type of this package.
func (s scanner) failure() error {
	switch e := s.Err().(type) {
	case *jsonscan.SyntaxError:
		malformed := &MalformedError{Offset: e.Offset, expected: e.Expected, found: e.Found, err: e.Err}
		if e.Found == "'<'" {
			malformed.html = true
			malformed.found += " (HTML? the response may come from a proxy or a login page)"
		}
		return malformed
	case *jsonscan.LimitError:
		return &FrameTooLargeError{Offset: e.Offset, Limit: e.Limit}
	}
	return s.Err()
}

// wrongValue records an error for a value that is valid JSON but breaks the protocol. It returns false.
func (s scanner) wrongValue(at int, expected, found string) bool {
	return s.Fail(&jsonscan.SyntaxError{Offset: s.Offset(at), Expected: expected, Found: redact.Body(s.Source(), found)})
}

// status returns the error that an ERROR event contains. It does not parse large objects, so that the error text stays
// short.
func (s scanner) status(o *Scanned) error {
	found := "another object"
	if len(o.body) > maxErrorBody {
		found = "an object of more than 64 kB"
	} else if e := (&StatusError{}); e.parse(Value{string(o.body)}, s.Source()) {
		return e
	}
	return &MalformedError{Offset: s.Offset(0), expected: "a Status in the ERROR event", found: found}
}

// event reads the next event of a watch, {"type":…,"object":…}, into o. It returns false at the end of the stream and
// after an error.
func (s scanner) event(o *Scanned) (EventType, bool) {
	if !s.Begin() {
		return 0, false
	}
	var kind span
	start, end := -1, 0
	for more := s.Open('{', "a watch event"); more; more = s.More() {
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
		return 0, s.wrongValue(kind.Start, "an event of type ADDED, MODIFIED, DELETED, BOOKMARK or ERROR", shorten([]byte(redact.Body(s.Source(), string(name)))))
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
	for more := s.Open('{', "an object"); more; more = s.More() {
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

func (s scanner) metadata(o *Scanned, start int, keep *fields) {
	if s.Next() == 'n' {
		s.SkipValue()
		return
	}
	trim := trimmer{start: start}
	for more := s.Open('{', "metadata to be an object"); more; more = s.More() {
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

func (s scanner) annotations(o *Scanned, start int, keep *fields) {
	if s.Next() == 'n' {
		s.SkipValue()
		return
	}
	trim := trimmer{start: start}
	for more := s.Open('{', "metadata.annotations to be an object"); more; more = s.More() {
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

// stringField reads a string and stores its span in field. The span is relative to start, the first byte of the object.
// stringField ignores null.
func (s scanner) stringField(field *span, start int, expected string) {
	if s.Next() == 'n' {
		s.SkipValue()
		return
	}
	at := s.String(expected)
	*field = span{Start: at.Start - start, End: at.End - start, Escaped: at.Escaped}
}

// shorten returns the first 32 bytes of text in quotes, for use in an error message.
func shorten(text []byte) string {
	const most = 32
	if len(text) > most {
		return "\"" + string(text[:most]) + "…\""
	}
	return "\"" + string(text) + "\""
}
