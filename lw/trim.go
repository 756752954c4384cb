package lw

import "github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"

// maxCuts limits the number of spans for which a stream keeps memory between objects. Only a hostile object has more
// spans to cut.
const maxCuts = 1 << 12

// fields selects parts of a JSON value. A nil *fields keeps the whole value. Otherwise each member of an object, and
// each element of an array, has its own selection.
type fields struct {
	members  []field
	others   *fields // selection for members whose names are not in members
	elements *fields
	omits    bool // the selection lists what to cut, so a value of an unexpected type stays whole
}

type field struct {
	name string
	keep *fields
}

// selectNone is the selection that removes the whole value.
var selectNone = &fields{}

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

// trimmer records which members of an object to cut, so that the remaining text is valid JSON. It cuts each member
// together with the comma before it. If no earlier member is kept, it cuts the comma after the member instead.
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

// done cuts the member that the scanner has just read, unless the selection `keep` includes a part of its value.
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

// cut adds the span from start to end to o.cuts. Spans must be added in ascending order.
func (o *Scanned) cut(start, end int) {
	if last := len(o.cuts) - 1; last >= 0 && o.cuts[last].End == start {
		o.cuts[last].End = end
	} else if start < end {
		o.cuts = append(o.cuts, span{Start: start, End: end})
	}
}

// value reads a JSON value and records the spans to cut. If the selection `keep` names members of the value, but the
// value is a string or an array, the value becomes empty. Cutting the whole value would change the indexes of an array,
// or restore an earlier member of the same name.
func (s scanner) value(o *Scanned, start int, keep *fields) {
	if keep == nil || keep == selectNone {
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
	case c == '[' && keep.elements != selectNone:
		for more := s.Open('[', "an array"); more; more = s.More() {
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

// cutsFor returns the spans to cut from the object, so that only the selection `keep` remains. It scans the object
// again if the last scan used another selection.
func (o *Scanned) cutsFor(keep *fields) []span {
	if o.keep != keep {
		reader := jsonscan.Within(o.body)
		again := Scanned{keep: keep, cuts: o.cuts, managed: o.managed}
		scanner{&reader}.object(&again)
		o.keep, o.cuts = keep, again.cuts
	}
	return o.cuts
}
