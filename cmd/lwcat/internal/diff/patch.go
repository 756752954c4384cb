package diff

import (
	"encoding/json"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Patch returns a JSON Patch (RFC 6902) that makes the new value of the old one, as far as the filter looks at it, as JSON: "[]"
// if nothing changed.
func Patch(old, new lw.Value, filter Filter) string {
	p := patch{filter: filter}
	p.text.WriteByte('[')
	p.values(nil, old, new)
	p.text.WriteByte(']')
	return p.text.String()
}

type patch struct {
	filter Filter
	text   strings.Builder
}

// add adds an operation; those without a value have "".
func (p *patch) add(operation string, path Path, value lw.Value) {
	if p.text.Len() > 1 {
		p.text.WriteByte(',')
	}
	pointer, _ := json.Marshal(path.pointer()) // a string has no way to fail
	p.text.WriteString(`{"op":"` + operation + `","path":`)
	p.text.Write(pointer)
	if value != "" {
		p.text.WriteString(`,"value":` + string(value))
	}
	p.text.WriteByte('}')
}

func (p *patch) values(path Path, old, new lw.Value) {
	switch {
	case p.filter.skips(path) || equal(old, new):
	case old == "":
		p.add("add", path, new)
	case new == "":
		p.add("remove", path, "")
	case isObject(old) && isObject(new):
		p.objects(path, membersOf(old), membersOf(new))
	case isArray(old) && isArray(new):
		p.arrays(path, elementsOf(old), elementsOf(new))
	default:
		p.add("replace", path, new)
	}
}

func (p *patch) objects(path Path, before, after members) {
	for _, name := range after.names {
		p.values(path.to(Step{Name: name}), before.values[name], after.values[name])
	}
	for _, name := range before.names {
		if _, there := after.values[name]; !there {
			p.values(path.to(Step{Name: name}), before.values[name], "")
		}
	}
}

// arrays changes, then adds or removes, between the elements at both ends that are the same. Each operation is about the array
// as those before it left it.
func (p *patch) arrays(path Path, before, after []lw.Value) {
	first, last := trim(before, after)
	both := min(len(before), len(after)) - last
	for i := first; i < both; i++ {
		p.values(path.to(Step{Index: i, Element: true}), before[i], after[i])
	}
	at := max(first, both)
	for i := at; i < len(after)-last; i++ {
		p.values(path.to(Step{Index: i, Element: true}), "", after[i])
	}
	for i := len(before) - last - 1; i >= at; i-- {
		p.values(path.to(Step{Index: i, Element: true}), before[i], "")
	}
}
