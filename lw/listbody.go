package lw

import (
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// ListMeta is the metadata of a list. It is complete only at the end of the list, because lists of custom resources
// send it after the items.
type ListMeta struct {
	ResourceVersion    string // resourceVersion of the list, from which a watch can start
	Continue           string // continue token of the next page, or "" on the last page
	RemainingItemCount int64  // approximate number of objects on later pages, or zero if unknown

	kind, apiVersion string
	confirmed        bool   // the client has asked the server for the kind of the collection
	shardSelector    string // shardInfo.selector: the shard selector that the server used
}

// list reads a list to its end. It scans each list item into o and then calls the callback item. It stops if the
// callback returns false.
func (s scanner) list(meta *ListMeta, o *Scanned, item func() bool) {
	found := false
	more := s.Open('{', "a list")
	if s.Err() != nil {
		s.notList()
		return
	}
	for ; more; more = s.More() {
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
	for more := s.Open('{', "the list's metadata to be an object"); more; more = s.More() {
		switch string(s.Key()) {
		case "resourceVersion":
			meta.ResourceVersion = s.freeText("the list's resourceVersion to be a string")
		case "continue":
			meta.Continue = s.freeText("the list's continue token to be a string")
		case "remainingItemCount":
			s.Mark()
			s.SkipValue()
			meta.RemainingItemCount = Value{view(s.Frame())}.Int()
			s.Unmark()
		case "shardInfo":
			s.shardInfo(meta)
		default:
			s.SkipValue()
		}
	}
}

func (s scanner) shardInfo(meta *ListMeta) {
	for more := s.Open('{', "the list's shardInfo to be an object"); more; more = s.More() {
		if string(s.Key()) == "selector" {
			meta.shardSelector = s.freeText("the shardInfo's selector to be a string")
		} else {
			s.SkipValue()
		}
	}
}

// items reads the items of a list. It returns false after an error, or if the callback item returns false. Old servers
// send null for an empty list.
func (s scanner) items(meta *ListMeta, o *Scanned, item func() bool) bool {
	if s.Next() == 'n' {
		s.SkipValue()
		return true
	}
	o.missing = newMissing(meta)
	more := s.Open('[', "items to be an array")
	if s.Err() != nil {
		return s.notList()
	}
	for ; more; more = s.More() {
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

// missing contains the JSON of the members that list items inherit from their list. Each member ends with a comma.
type missing struct{ kind, apiVersion, both string }

// newMissing derives the kind of the items from the kind of the list: a PodList contains Pods. A list of custom
// resources sends its kind after the items, but each item has a kind.
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
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// freeText reads a string and returns a copy of its content. It can be called outside a frame. It returns "" for null.
func (s scanner) freeText(expected string) string {
	if s.Next() == 'n' {
		s.SkipValue()
		return ""
	}
	s.Mark()
	text := string(s.Content(s.String(expected)))
	s.Unmark()
	return text
}
