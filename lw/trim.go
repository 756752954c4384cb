package lw

import "github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"

// mostCuts is how many cuts a stream keeps room for between two objects: an object has hardly more, unless it is made to.
const mostCuts = 1 << 12

// fields says what stays of a value: all of it where it is nil; otherwise, of an object the members, each as far as it
// says, and of an array the elements.
type fields struct {
	members  []field
	others   *fields // what stays of members that are not named
	elements *fields
}

type field struct {
	name string
	keep *fields
}

// nothing is what stays of a member that is left out.
var nothing = &fields{}

// withoutManagedFields keeps all but metadata.managedFields.
var withoutManagedFields = &fields{members: []field{{"metadata", &fields{members: []field{{"managedFields", nothing}}}}}}

// member returns what stays of a member.
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

// trimmer follows the members of one object, and notes which are to be cut so that valid JSON stays: each goes with the
// comma before it, or, when nothing that stays is before it, with the comma behind it.
type trimmer struct {
	start  int  // of the whole object, from the mark: spans count from here
	before int  // where what stands before the member ends
	begun  bool // a member was seen
	kept   bool // one that stays was seen
}

// key reads the next member's name.
func (t *trimmer) key(s scanner) []byte {
	if !t.begun {
		t.begun = true
		t.before = s.Pos() - t.start
	}
	return s.Key()
}

// done stands behind the member's value, of which keep stays.
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

// cut notes that a part of the text is to be left out. The parts come in the text's order.
func (o *Scanned) cut(start, end int) {
	if last := len(o.cuts) - 1; last >= 0 && o.cuts[last].End == start {
		o.cuts[last].End = end
	} else if start < end {
		o.cuts = append(o.cuts, span{Start: start, End: end})
	}
}

// value steps over a value and notes what does not stay of it. What stands in the way of a named field, as a string where
// an object should be, is emptied and not cut: an element must keep its place, and a member may be there to replace
// another of the same name.
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

// cutsFor returns what to leave out of the text so that keep stays. The scanner notes it on its way when it knows what to
// keep, and it learns that here: from the second object of a stream on there is one pass over the bytes.
func (o *Scanned) cutsFor(keep *fields) []span {
	if o.keep != keep {
		reader := jsonscan.Within(o.body)
		again := Scanned{keep: keep, cuts: o.cuts}
		scanner{&reader}.object(&again)
		o.keep, o.cuts = keep, again.cuts
	}
	return o.cuts
}
