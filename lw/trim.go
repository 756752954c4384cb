package lw

import "github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"

// maxCuts is the most cuts for which a stream keeps memory between two objects. Only a hostile object has more.
const maxCuts = 1 << 12

// fields selects the parts of a value to keep. nil keeps the whole value. Otherwise the members of an object, or the
// elements of an array, are each selected in turn.
type fields struct {
	members  []field
	others   *fields // selects members that are not named
	elements *fields
}

type field struct {
	name string
	keep *fields
}

// nothing keeps no part of a value.
var nothing = &fields{}

// withoutManagedFields keeps everything except metadata.managedFields.
var withoutManagedFields = &fields{members: []field{{"metadata", &fields{members: []field{{"managedFields", nothing}}}}}}

// member returns the selection for a member.
func (f *fields) member(name []byte) *fields {
	if f == nil {
		return nil
	}
	for i := range f.members {
		if f.members[i].name == string(name) {
			return f.members[i].keep
		}
	}
	return f.others
}

// trimmer follows the members of one object and notes which to cut so that the rest is valid JSON. It cuts the comma before
// a member with it. If no member before it is kept, it cuts the comma behind it instead.
type trimmer struct {
	start  int  // position of the whole object; spans count from here
	before int  // end of the text before the member
	begun  bool // a member was seen
	kept   bool // a member that is kept was seen
}

// key reads the next member's name.
func (t *trimmer) key(s scanner) []byte {
	if !t.begun {
		t.begun = true
		t.before = s.Pos() - t.start
	}
	return s.Key()
}

// done is called after the member's value, which keep selected from.
func (t *trimmer) done(s scanner, o *Scanned, keep *fields) {
	end := s.Pos() - t.start
	if keep != nothing {
		t.kept = true
	} else {
		if !t.kept && s.Next() == ',' {
			end = s.Pos() + 1 - t.start
		}
		o.cut(t.before, end)
	}
	t.before = end
}

// cut notes a part of the text to leave out. Calls come in the order of the text.
func (o *Scanned) cut(start, end int) {
	if last := len(o.cuts) - 1; last >= 0 && o.cuts[last].End == start {
		o.cuts[last].End = end
	} else if start < end {
		o.cuts = append(o.cuts, span{Start: start, End: end})
	}
}

// value steps over a value and notes the parts to leave out. If a string or an array stands where a named field expects an
// object, value empties it and does not cut it: an element must keep its index, and a member may replace an earlier one of
// the same name.
func (s scanner) value(o *Scanned, start int, keep *fields) {
	if keep == nil || keep == nothing {
		s.SkipValue()
		return
	}
	switch c := s.Next(); {
	case c == '{':
		trim := trimmer{start: start}
		for more := s.Open('{', "an object"); more; more = s.More() {
			keep := keep.member(trim.key(s))
			s.value(o, start, keep)
			trim.done(s, o, keep)
		}
	case c == '[' && keep.elements != nothing:
		for more := s.Open('[', "an array"); more; more = s.More() {
			s.value(o, start, keep.elements)
		}
	default:
		from := s.Pos() + 1 - start
		if s.SkipValue(); c == '[' || c == '"' {
			o.cut(from, s.Pos()-1-start)
		}
	}
}

// cutsFor returns the parts to leave out of the text so that keep remains. The first object of a stream is scanned a second
// time for that. Later objects are scanned once, because the scanner then knows keep.
func (o *Scanned) cutsFor(keep *fields) []span {
	if o.keep != keep {
		reader := jsonscan.Within(o.body)
		again := Scanned{keep: keep, cuts: o.cuts}
		scanner{&reader}.object(&again)
		o.keep, o.cuts = keep, again.cuts
	}
	return o.cuts
}
