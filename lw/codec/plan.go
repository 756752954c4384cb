package codec

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// plan decodes values of one Go type. It follows the decoding rules in the package comment, and is about twice as fast as
// json-iterator.
type plan struct {
	decode func(*anyReader, reflect.Value)
	// fields contains the fields of a struct, grouped by the length of their names modulo 32. A group has few fields, so
	// comparing their names is faster than looking up a name in a map.
	fields  [32][]field
	unusual bool      // whether a struct needs json-iterator to find the field for a member name; see the package comment
	wire    *wireType // apiVersion and kind of a built-in type, which Into checks; nil for other types
	elem    *plan     // of a pointer, slice, array or map
}

// field describes how to find and decode a field of a struct. index is the path to the field, as in
// [reflect.Value.FieldByIndex], because the field may be in an embedded struct.
type field struct {
	name  string
	index []int
	plan  *plan
}

// field returns the field with this name, or nil. If an unusual struct has two fields with this name, it returns the one that
// was added last. This matters only to uidOf, because decodeStruct does not use the fields of an unusual struct.
func (p *plan) field(name string) *field {
	group := p.fields[len(name)%len(p.fields)]
	for i := range group {
		if group[i].name == name {
			return &group[i]
		}
	}
	return nil
}

// plans caches the *plan of each reflect.Type.
var plans sync.Map

func planOf(t reflect.Type) *plan {
	known, ok := plans.Load(t)
	if !ok {
		known, _ = plans.LoadOrStore(t, newPlan(t, map[reflect.Type]*plan{}))
	}
	return known.(*plan)
}

// newPlan returns the plan of a type. started contains the plans that are not complete yet. It is needed because a type
// may contain itself.
func newPlan(t reflect.Type, started map[reflect.Type]*plan) *plan {
	if p, ok := started[t]; ok {
		return p
	}
	p := &plan{}
	started[t] = p
	switch kind := t.Kind(); {
	case t == anyType:
		p.decode = decodeInterface
	case t == numberType, unmarshals(t):
		p.decode = decodeStandard
	case kind == reflect.String:
		p.decode = decodeString
	case kind >= reflect.Bool && kind <= reflect.Float64:
		p.decode = decodeScalar
	case kind == reflect.Pointer:
		p.decode, p.elem = p.decodePointer, newPlan(t.Elem(), started)
	case kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		p.decode, p.elem = p.decodeBytes, newPlan(t.Elem(), started)
	case kind == reflect.Slice, kind == reflect.Array:
		p.decode, p.elem = p.decodeElements, newPlan(t.Elem(), started)
	case kind == reflect.Map:
		p.decode, p.elem = p.decodeMap, newPlan(t.Elem(), started)
	case kind == reflect.Struct:
		p.addFields(t, nil, started)
		p.decode, p.wire = p.decodeStruct, newWireType(builtinOf(t))
	default:
		p.decode = decodeStandard
	}
	return p
}

// addFields adds the fields of a struct. index is the index of an embedded struct in the outer struct.
func (p *plan) addFields(t reflect.Type, index []int, started map[reflect.Type]*plan) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := append(index[:len(index):len(index)], i) // a copy, because the fields must not share memory
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			p.addFields(f.Type, at, started)
		case f.Anonymous && name == "": // for example an embedded pointer, for which json-iterator allocates the struct
			p.unusual = true
		case f.Tag.Get("json") == "-" || !f.IsExported() && !f.Anonymous: // not a JSON field
		default:
			if name == "" {
				name = f.Name
			}
			// json-iterator handles repeated names, embedded unexported types with a JSON name, and the option ",string".
			p.unusual = p.unusual || p.field(name) != nil || !f.IsExported() || strings.Contains(options, "string")
			group := &p.fields[len(name)%len(p.fields)]
			*group = slices.Insert(*group, 0, field{name, at, newPlan(f.Type, started)})
		}
	}
}

func (p *plan) decodeStruct(r *anyReader, into reflect.Value) {
	if !r.begins('{', into) {
		return
	}
	for r.next(); r.err == nil && r.text[r.at] != '}'; {
		name := r.content()
		r.next() // the colon
		start := r.at
		f := p.field(name) // not used in an unusual struct
		switch {
		case p.unusual:
			decodeUnusual(r, name, into)
		case f == nil:
			r.raw()
		default:
			f.plan.decode(r, into.FieldByIndex(f.index))
		}
		if r.err != nil {
			r.err.inMember(name, into.Type(), r.text[start:])
		}
		r.comma()
	}
	r.next()
}

func (p *plan) decodePointer(r *anyReader, into reflect.Value) {
	if r.text[r.at] == 'n' {
		r.raw()
		into.SetZero()
		return
	}
	if into.IsNil() {
		into.Set(reflect.New(into.Type().Elem()))
	}
	p.elem.decode(r, into.Elem())
}

// decodeElements decodes a JSON array. Elements may already exist, because a member may occur twice. Like encoding/json,
// decodeElements then decodes into them. If the JSON has too many elements for a Go array, it ignores the rest. If the
// JSON has too few, it clears the remaining elements of the Go array.
func (p *plan) decodeElements(r *anyReader, into reflect.Value) {
	if !r.begins('[', into) {
		return
	}
	slice := into.Kind() == reflect.Slice
	if slice && into.IsNil() {
		into.Set(reflect.MakeSlice(into.Type(), 0, 0))
	} else if slice {
		into.SetLen(0)
	}
	n := 0
	for r.next(); r.err == nil && r.text[r.at] != ']'; n++ {
		if slice {
			into.Grow(1)
			into.SetLen(n + 1)
		}
		if n < into.Len() {
			p.elem.decode(r, into.Index(n))
		} else {
			r.raw()
		}
		if r.err != nil {
			r.err.inElement(n)
		}
		r.comma()
	}
	for ; n < into.Len(); n++ {
		into.Index(n).SetZero()
	}
	r.next()
}

func (p *plan) decodeMap(r *anyReader, into reflect.Value) {
	if !r.begins('{', into) {
		return
	}
	if into.IsNil() {
		if values, ok := into.Addr().Interface().(*map[string]any); ok {
			*values = r.object()
			return
		}
		into.Set(reflect.MakeMap(into.Type()))
	}
	texts, _ := into.Interface().(map[string]string) // for example labels, which need no reflection
	for r.next(); r.err == nil && r.text[r.at] != '}'; r.comma() {
		name := r.string().(string)
		r.next() // the colon
		if texts != nil && r.text[r.at] == '"' {
			texts[name] = r.string().(string)
			continue
		}
		key, ok := keyOf(into.Type().Key(), name)
		if !ok {
			r.fail(into.Type(), "an object with an invalid key")
			return
		}
		start, value := r.at, reflect.New(into.Type().Elem()).Elem()
		if p.elem.decode(r, value); r.err != nil {
			r.err.inMember(name, into.Type(), r.text[start:])
		}
		into.SetMapIndex(key, value)
	}
	r.next()
}

// keyOf converts a member name to a map key. If the key is not a plain string, encoding/json converts it.
func keyOf(t reflect.Type, name string) (key reflect.Value, ok bool) {
	if t.Kind() == reflect.String && !unmarshals(t) {
		return reflect.ValueOf(name).Convert(t), true
	}
	text, _ := json.Marshal(map[string]any{name: nil}) // encoding a string cannot fail
	keys := reflect.New(reflect.MapOf(t, anyType))
	if json.Unmarshal(text, keys.Interface()) != nil {
		return key, false
	}
	return keys.Elem().MapKeys()[0], true
}

func decodeInterface(r *anyReader, into reflect.Value) {
	into.SetZero()
	if value := r.value(); value != nil {
		into.Set(reflect.ValueOf(value))
	}
}

// kubernetesTime is implemented by metav1.Time and metav1.MicroTime. UnmarshalQueryParameter takes a fraction of the time of
// UnmarshalJSON, which calls encoding/json to read the string. Both accept the same strings, except for "" and "null".
type kubernetesTime interface{ UnmarshalQueryParameter(text string) error }

// decodeStandard decodes a value with encoding/json, because the type has a method that decodes JSON or text, is
// json.Number, or has no JSON at all.
func decodeStandard(r *anyReader, into reflect.Value) {
	var err error
	text, pointer := r.raw(), into.Addr().Interface()
	r.standard = append(r.standard[:0], text...)
	at, isTime := pointer.(kubernetesTime)
	own, decodes := pointer.(json.Unmarshaler)
	switch {
	case isTime && text[0] == '"' && len(text) > len(`"null"`) && !strings.Contains(text, `\`):
		err = at.UnmarshalQueryParameter(text[1 : len(text)-1])
	case decodes:
		err = own.UnmarshalJSON(r.standard)
	default:
		err = json.Unmarshal(r.standard, pointer)
	}
	if err != nil {
		r.fail(into.Type(), kindOf(text))
	}
}

func decodeString(r *anyReader, into reflect.Value) {
	if r.begins('"', into) {
		into.SetString(r.string().(string))
	}
}

// decodeScalar decodes a number or a boolean.
func decodeScalar(r *anyReader, into reflect.Value) {
	text := r.raw()
	switch {
	case text == "null" || setScalar(into, text):
	case kindOf(text) == "a number" && into.Kind() != reflect.Bool:
		r.fail(into.Type(), "a number that does not fit")
	default:
		r.fail(into.Type(), kindOf(text))
	}
}

func (p *plan) decodeBytes(r *anyReader, into reflect.Value) {
	if r.text[r.at] != '"' {
		p.decodeElements(r, into)
		return
	}
	data, err := base64.StdEncoding.DecodeString(r.content())
	if err != nil {
		r.fail(into.Type(), "a string that is not base64")
	}
	into.SetBytes(data)
}

// begins reports whether the next byte is c. Otherwise the value must be null, and begins handles it as encoding/json
// does: it clears a slice or map, and leaves other values unchanged. Any other value is an error.
func (r *anyReader) begins(c byte, into reflect.Value) bool {
	if r.text[r.at] == c {
		return true
	}
	if text := r.raw(); text != "null" {
		r.fail(into.Type(), kindOf(text))
	} else if into.Kind() == reflect.Slice || into.Kind() == reflect.Map {
		into.SetZero()
	}
	return false
}

// fail records that a value does not fit its type. `found` describes the value.
func (r *anyReader) fail(t reflect.Type, found string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if r.err == nil {
		r.err = &fieldError{expected: t.String(), found: found}
	}
}

// raw skips a value and returns its JSON.
func (r *anyReader) raw() string {
	start := r.at
	r.at = jsonscan.ValueEnd(r.text, start)
	text := r.text[start:r.at]
	r.space()
	return text
}

// comma steps over a comma. After an error, it does nothing, because r.at may be anywhere.
func (r *anyReader) comma() {
	if r.err == nil && r.text[r.at] == ',' {
		r.next()
	}
}
