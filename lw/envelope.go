package lw

// begin moves to the first byte of the next frame and marks it. At the end of the stream it returns false, and err is
// io.EOF, or what broke the stream.
func (s *scanner) begin() bool {
	if s.err != nil {
		return false
	}
	s.markNext()
	if s.pos == s.end {
		s.err = s.srcErr
		return false
	}
	return true
}

// markNext marks the next byte that is no white space.
func (s *scanner) markNext() {
	s.mark = -1
	s.next()
	s.mark = s.pos
}

// finish checks the size of the frame that begins at the mark and ends at pos.
func (s *scanner) finish() bool {
	if s.err == nil && s.pos-s.mark > s.max {
		s.fail(&FrameTooLargeError{Offset: s.offset(s.mark), Limit: s.max})
	}
	return s.err == nil
}

// event reads the next event of a watch, {"type":…,"object":…}, into o. At the end of the stream err is io.EOF.
func (s *scanner) event(o *Scanned) (EventType, bool) {
	if !s.begin() {
		return 0, false
	}
	var kind span
	start, end := -1, 0
	for more := s.open('{', "a watch event"); more; more = s.more() {
		switch string(s.key()) {
		case "type":
			kind = s.text("the event's type")
		case "object":
			s.next()
			start = s.pos - s.mark
			s.object(o)
			end = s.pos - s.mark
		default:
			s.skip()
		}
	}
	if !s.finish() {
		return 0, false
	}
	if start < 0 {
		return 0, s.wrongValue(s.pos-1, "an \"object\" in the event", "none")
	}
	o.body = s.data[s.mark+start : s.mark+end]
	name := s.content(kind)
	eventType, known := wireType(name)
	if !known {
		return 0, s.wrongValue(s.mark+kind.start, "an event of type ADDED, MODIFIED, DELETED, BOOKMARK or ERROR", shorten([]byte(Redact(s.src, string(name)))))
	}
	needsName := eventType == Added || eventType == Modified || eventType == Deleted
	if needsName && o.name.start == o.name.end {
		return 0, s.wrongValue(s.mark+start, "an object with metadata.name", "none")
	}
	return eventType, true
}

// object reads an object's envelope and metadata. It begins at pos, within a frame; spans count from its first byte.
func (s *scanner) object(o *Scanned) {
	if cap(o.cuts) > mostCuts {
		o.cuts = nil
	}
	*o = Scanned{keep: o.keep, cuts: o.cuts[:0], missing: o.missing}
	start := s.pos - s.mark
	trim := trimmer{start: start}
	for more := s.open('{', "an object"); more; more = s.more() {
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

func (s *scanner) metadata(o *Scanned, start int, keep *fields) {
	if s.next() == 'n' {
		s.skip()
		return
	}
	trim := trimmer{start: start}
	for more := s.open('{', "metadata to be an object"); more; more = s.more() {
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
		default:
			s.value(o, start, keep)
		}
		trim.done(s, o, keep)
	}
}

func (s *scanner) annotations(o *Scanned, start int, keep *fields) {
	if s.next() == 'n' {
		s.skip()
		return
	}
	trim := trimmer{start: start}
	for more := s.open('{', "metadata.annotations to be an object"); more; more = s.more() {
		name := trim.key(s)
		keep := keep.member(name)
		if string(name) == "k8s.io/initial-events-end" {
			o.initialEventsEnd = string(s.content(s.text("the annotation to be a string"))) == "true"
		} else {
			s.value(o, start, keep)
		}
		trim.done(s, o, keep)
	}
}

// stringField reads a string of the object that begins at start; null reads as not there.
func (s *scanner) stringField(field *span, start int, expected string) {
	if s.next() == 'n' {
		s.skip()
		return
	}
	at := s.text(expected)
	*field = span{start: at.start - start, end: at.end - start, escaped: at.escaped}
}

// shorten makes text from the wire fit into an error.
func shorten(text []byte) string {
	const most = 32
	if len(text) > most {
		return "\"" + string(text[:most]) + "…\""
	}
	return "\"" + string(text) + "\""
}
