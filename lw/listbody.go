package lw

import "io"

// ListMeta is what a list says of itself. It is complete when the list was read to its end: custom resources' lists put
// it behind the items.
type ListMeta struct {
	ResourceVersion    string // the version of the collection that the list shows; watch from here
	Continue           string // the token of the next page; "" on the last
	RemainingItemCount int64  // how many more there are, roughly; zero when the server does not say
	Kind               string // the list's own, as "PodList"
	APIVersion         string // as "v1" or "apps/v1"
	ShardSelector      string // the one that the server used, of its shardInfo
}

// list reads a list's body to the end of the stream. Each item is scanned into o and given to item, which returns false
// to stop. Only one item at a time is kept in the buffer.
func (s *scanner) list(meta *ListMeta, o *Scanned, item func() bool) {
	found := false
	more := s.open('{', "a list")
	if s.err != nil {
		s.notList()
		return
	}
	for ; more; more = s.more() {
		switch string(s.key()) {
		case "kind":
			meta.Kind = s.freeText("the list's kind to be a string")
		case "apiVersion":
			meta.APIVersion = s.freeText("the list's apiVersion to be a string")
		case "metadata":
			s.listMeta(meta)
		case "items":
			found = true
			if !s.items(meta, o, item) {
				return
			}
		default:
			s.skip()
		}
	}
	if s.err == nil && !found {
		s.wrongValue(s.pos-1, "a list with items", "an object of kind "+shorten([]byte(meta.Kind)))
		s.notList()
	}
	if s.err != nil {
		return
	}
	if s.next(); s.pos < s.end || s.srcErr != io.EOF {
		s.expected("the end of the body after the list")
	}
}

// notList records that what was answered is something else, unless it was cut short.
func (s *scanner) notList() bool {
	if e, ok := s.err.(*MalformedError); ok && e.Err == nil {
		e.Err = ErrNotList
	}
	return false
}

func (s *scanner) listMeta(meta *ListMeta) {
	for more := s.open('{', "the list's metadata to be an object"); more; more = s.more() {
		switch string(s.key()) {
		case "resourceVersion":
			meta.ResourceVersion = s.freeText("the list's resourceVersion to be a string")
		case "continue":
			meta.Continue = s.freeText("the list's continue token to be a string")
		case "remainingItemCount":
			s.markNext()
			s.skip()
			meta.RemainingItemCount = Value(s.data[s.mark:s.pos]).Int()
			s.mark = -1
		case "shardInfo":
			s.shardInfo(meta)
		default:
			s.skip()
		}
	}
}

func (s *scanner) shardInfo(meta *ListMeta) {
	for more := s.open('{', "the list's shardInfo to be an object"); more; more = s.more() {
		if string(s.key()) == "selector" {
			meta.ShardSelector = s.freeText("the shardInfo's selector to be a string")
		} else {
			s.skip()
		}
	}
}

// items reads the list's items; null, which old servers send for none, is an empty list.
func (s *scanner) items(meta *ListMeta, o *Scanned, item func() bool) bool {
	if s.next() == 'n' {
		s.skip()
		return true
	}
	o.missing = newMissing(meta)
	more := s.open('[', "items to be an array")
	if s.err != nil {
		return s.notList()
	}
	for ; more; more = s.more() {
		s.markNext()
		s.object(o)
		if !s.finish() {
			return false
		}
		if o.body = s.data[s.mark:s.pos]; o.name.start == o.name.end {
			s.wrongValue(s.mark, "an item with metadata.name", "none")
			return s.notList()
		}
		proceed := item()
		s.mark = -1
		if !proceed {
			return false
		}
	}
	return s.err == nil
}

// missing holds the members, each with its comma, that the items of a list lack when the list itself has them.
type missing struct{ kind, apiVersion, both string }

// newMissing derives the items' kind from the list's own: a PodList holds Pods. A list that names its kind only behind
// its items, as custom resources' lists do, has items that name their own.
func newMissing(list *ListMeta) (m missing) {
	const suffix = "List"
	if n := len(list.Kind) - len(suffix); n > 0 && list.Kind[n:] == suffix && isPlain(list.Kind) {
		m.kind = `"kind":"` + list.Kind[:n] + `",`
	}
	if list.APIVersion != "" && isPlain(list.APIVersion) {
		m.apiVersion = `"apiVersion":"` + list.APIVersion + `",`
	}
	m.both = m.kind + m.apiVersion
	return m
}

// isPlain reports whether text can stand in a JSON string as it is.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// freeText reads a string outside of a frame, and copies it.
func (s *scanner) freeText(expected string) string {
	if s.next() == 'n' {
		s.skip()
		return ""
	}
	s.mark = s.pos
	text := string(s.content(s.text(expected)))
	s.mark = -1
	return text
}
