package main

import (
	"go/token"
	"slices"
	"strings"
)

// source is the text of a file, and what is to be written into it.
type source struct {
	name   string
	text   []byte
	lines  []string
	before map[int][]string // by offset
	after  map[int][]string
	cuts   map[int]cut
}

// cut is a piece of the text that is replaced.
type cut struct {
	length int
	by     string
}

func newSource(name string, text []byte) *source {
	return &source{
		name: name, text: text, lines: strings.Split(string(text), "\n"),
		before: map[int][]string{}, after: map[int][]string{}, cuts: map[int]cut{},
	}
}

// wrap puts something around a node; what is wrapped within it later comes closer to the text.
func (s *source) wrap(from, to int, before, after string) {
	s.before[from] = append(s.before[from], before)
	s.after[to] = append(s.after[to], after)
}

func (s *source) replace(at int, operator token.Token, by string) {
	s.cuts[at] = cut{len(operator.String()), by}
}

// written is the text with all that.
func (s *source) written() []byte {
	var all []byte
	for at := 0; at <= len(s.text); {
		for _, text := range slices.Backward(s.after[at]) {
			all = append(all, text...)
		}
		for _, text := range s.before[at] {
			all = append(all, text...)
		}
		if cut, ok := s.cuts[at]; ok {
			all = append(all, cut.by...)
			at += cut.length
			continue
		}
		if at < len(s.text) {
			all = append(all, s.text[at])
		}
		at++
	}
	return all
}
