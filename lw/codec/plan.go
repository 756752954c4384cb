package codec

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// plan decodes values of one Go type into new structs, about twice as fast as json-iterator. It gives up at the first unusual
// value, such as a number that does not fit or a second list with the same name. json-iterator then decodes the whole object
// again, so a plan need not follow all rules of encoding/json.
type plan struct {
	decode func(*anyReader, reflect.Value)
	fields map[string]field // of a struct
	elem   *plan            // of a pointer, slice or map
}

// field is a field of a struct, which may belong to an embedded struct.
type field struct {
	index []int
	plan  *plan
}

// plans caches the *plan of each reflect.Type. The value is nil for a type that only json-iterator can decode.
var plans sync.Map

// quickly decodes text into target if that points to a zero struct or to a nil pointer to a struct. It returns false, and
// leaves target unchanged, if json-iterator must decode the object instead.
func quickly(text string, target any) bool {
	outer := reflect.ValueOf(target).Elem()
	if !outer.IsValid() || !outer.IsZero() {
		return false
	}
	into := outer
	if into.Kind() == reflect.Pointer {
		into = reflect.New(into.Type().Elem()).Elem()
	}
	p := planOf(into.Type())
	if into.Kind() != reflect.Struct || p == nil {
		return false
	}
	r := newAnyReader(text)
	defer r.release()
	switch p.decode(r, into); {
	case r.err != nil:
		outer.SetZero()
		return false
	case outer.Kind() == reflect.Pointer:
		outer.Set(into.Addr())
	}
	return true
}

func planOf(t reflect.Type) *plan {
	known, ok := plans.Load(t)
	if !ok {
		known, _ = plans.LoadOrStore(t, newPlan(t, map[reflect.Type]*plan{}))
	}
	return known.(*plan)
}

// newPlan returns the plan of a type, or nil. A type in started contains itself, and its plan is not complete yet.
func newPlan(t reflect.Type, started map[reflect.Type]*plan) *plan {
	if p, ok := started[t]; ok {
		return p
	}
	p := &plan{}
	started[t] = p
	switch kind := t.Kind(); {
	case t == anyType:
		p.decode = decodeInterface
	case t == numberType, unmarshals(t), kind == reflect.Array, kind == reflect.Map && (t.Key().Kind() != reflect.String || unmarshals(t.Key())):
		p.decode = decodeStandard
	case kind == reflect.String:
		p.decode = decodeString
	case kind == reflect.Bool:
		p.decode = decodeBool
	case kind >= reflect.Int && kind <= reflect.Float64:
		p.decode = decodeNumber
	case kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && !unmarshals(t.Elem()):
		p.decode = decodeBytes
	case kind == reflect.Pointer, kind == reflect.Slice, kind == reflect.Map:
		p.decode = map[reflect.Kind]func(*anyReader, reflect.Value){
			reflect.Pointer: p.decodePointer, reflect.Slice: p.decodeSlice, reflect.Map: p.decodeMap,
		}[kind]
		if p.elem = newPlan(t.Elem(), started); p.elem == nil {
			return nil
		}
	case kind == reflect.Struct:
		p.decode, p.fields = p.decodeStruct, map[string]field{}
		if !p.addFields(t, nil, started) {
			return nil
		}
	default:
		return nil
	}
	return p
}

// addFields adds the fields of a struct, whose index is known. It returns false if a field is unusual.
func (p *plan) addFields(t reflect.Type, index []int, started map[reflect.Type]*plan) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := append(index[:len(index):len(index)], i)
		switch {
		case f.Anonymous && name == "":
			if f.Type.Kind() != reflect.Struct || !f.IsExported() || !p.addFields(f.Type, at, started) {
				return false
			}
		case f.Tag.Get("json") == "-" || !f.IsExported() && !f.Anonymous:
		case !f.IsExported() || strings.Contains(options, "string"):
			return false
		default:
			if name == "" {
				name = f.Name
			}
			inner := newPlan(f.Type, started)
			if _, double := p.fields[name]; double || inner == nil {
				return false
			}
			p.fields[name] = field{at, inner}
		}
	}
	return true
}

func (p *plan) decodeStruct(r *anyReader, into reflect.Value) {
	if !r.opens('{') {
		return
	}
	for r.next(); r.err == nil && r.text[r.at] != '}'; {
		name := r.content()
		r.next() // the colon
		f, ok := p.fields[name]
		switch {
		case !ok:
			r.raw()
		case len(f.index) == 1:
			f.plan.decode(r, into.Field(f.index[0]))
		default:
			f.plan.decode(r, into.FieldByIndex(f.index))
		}
		r.comma()
	}
	r.next()
}

func (p *plan) decodePointer(r *anyReader, into reflect.Value) {
	if r.null() || r.repeated(into) {
		return
	}
	into.Set(reflect.New(into.Type().Elem()))
	p.elem.decode(r, into.Elem())
}

func (p *plan) decodeSlice(r *anyReader, into reflect.Value) {
	if r.repeated(into) || !r.opens('[') {
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), 0, 0))
	for r.next(); r.err == nil && r.text[r.at] != ']'; r.comma() {
		n := into.Len()
		into.Grow(1)
		into.SetLen(n + 1)
		p.elem.decode(r, into.Index(n))
	}
	r.next()
}

func (p *plan) decodeMap(r *anyReader, into reflect.Value) {
	if r.repeated(into) || !r.opens('{') {
		return
	}
	into.Set(reflect.MakeMap(into.Type()))
	texts, _ := into.Addr().Interface().(*map[string]string)
	for r.next(); r.err == nil && r.text[r.at] != '}'; r.comma() {
		name := r.string().(string)
		r.next() // the colon
		if texts != nil && r.text[r.at] == '"' {
			(*texts)[name] = r.string().(string)
			continue
		}
		value := reflect.New(into.Type().Elem()).Elem()
		p.elem.decode(r, value)
		into.SetMapIndex(reflect.ValueOf(name).Convert(into.Type().Key()), value)
	}
	r.next()
}

func decodeInterface(r *anyReader, into reflect.Value) {
	into.SetZero()
	if value := r.value(); value != nil {
		into.Set(reflect.ValueOf(value))
	}
}

func decodeStandard(r *anyReader, into reflect.Value) {
	var err error
	r.standard = append(r.standard[:0], r.raw()...)
	switch pointer := into.Addr().Interface().(type) {
	case json.Unmarshaler:
		err = pointer.UnmarshalJSON(r.standard)
	default:
		err = json.Unmarshal(r.standard, pointer)
	}
	r.fail(err)
}

func decodeString(r *anyReader, into reflect.Value) {
	if !r.null() && r.is('"') {
		into.SetString(r.string().(string))
	}
}

func decodeBool(r *anyReader, into reflect.Value) {
	switch text := r.raw(); text {
	case "null":
	case "true", "false":
		into.SetBool(text == "true")
	default:
		r.fail(errMismatch)
	}
}

func decodeNumber(r *anyReader, into reflect.Value) {
	if text := r.raw(); text != "null" && !setNumber(into, text) {
		r.fail(errMismatch)
	}
}

func decodeBytes(r *anyReader, into reflect.Value) {
	if r.repeated(into) || r.null() || !r.is('"') {
		return
	}
	data, err := base64.StdEncoding.DecodeString(r.content())
	r.fail(err)
	into.SetBytes(data)
}

// opens reports whether the next value begins with this bracket. It skips null, and otherwise gives up.
func (r *anyReader) opens(bracket byte) bool { return !r.null() && r.is(bracket) }

// null skips null.
func (r *anyReader) null() bool {
	if r.text[r.at] != 'n' {
		return false
	}
	r.raw()
	return true
}

// is reports whether the next byte is c, and otherwise gives up.
func (r *anyReader) is(c byte) bool {
	if r.text[r.at] == c {
		return true
	}
	r.fail(errMismatch)
	return false
}

// repeated gives up if a previous member with the same name has set the value, because encoding/json merges such values.
func (r *anyReader) repeated(into reflect.Value) bool {
	if into.IsNil() {
		return false
	}
	r.fail(errMismatch)
	return true
}

func (r *anyReader) fail(err error) {
	if r.err == nil {
		r.err = err
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
