package codec

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// plan decodes values of one Go type, as encoding/json does, but with case-sensitive names. It is about twice as fast as
// json-iterator.
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

// plans caches the *plan of each reflect.Type.
var plans sync.Map

func planOf(t reflect.Type) *plan {
	known, ok := plans.Load(t)
	if !ok {
		known, _ = plans.LoadOrStore(t, newPlan(t, map[reflect.Type]*plan{}))
	}
	return known.(*plan)
}

// newPlan returns the plan of a type. A type in started contains itself, and its plan is not complete yet.
func newPlan(t reflect.Type, started map[reflect.Type]*plan) *plan {
	if p, ok := started[t]; ok {
		return p
	}
	p := &plan{decode: leaf(t), fields: map[string]field{}}
	started[t] = p
	switch kind := t.Kind(); {
	case p.decode != nil:
	case kind == reflect.Bool:
		p.decode = decodeBool
	case kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && !unmarshals(t.Elem()):
		p.decode = decodeBytes
	case kind == reflect.Pointer:
		p.decode, p.elem = p.decodePointer, newPlan(t.Elem(), started)
	case kind == reflect.Slice:
		p.decode, p.elem = p.decodeSlice, newPlan(t.Elem(), started)
	case kind == reflect.Map:
		p.decode, p.elem = p.decodeMap, newPlan(t.Elem(), started)
	case kind == reflect.Struct && p.addFields(t, nil, started):
		p.decode = p.decodeStruct
	default:
		p.decode = decodeUnusual
	}
	return p
}

// leaf returns the function that decodes a type that json-iterator decodes wrongly. It returns nil for other types.
func leaf(t reflect.Type) func(*anyReader, reflect.Value) {
	switch kind := t.Kind(); {
	case t == anyType:
		return decodeInterface
	case t == numberType, unmarshals(t), kind == reflect.Array, kind == reflect.Map && (t.Key().Kind() != reflect.String || unmarshals(t.Key())):
		return decodeStandard
	case kind == reflect.String:
		return decodeString
	case kind >= reflect.Int && kind <= reflect.Float64:
		return decodeNumber
	}
	return nil
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
			if _, double := p.fields[name]; double {
				return false
			}
			p.fields[name] = field{at, newPlan(f.Type, started)}
		}
	}
	return true
}

func (p *plan) decodeStruct(r *anyReader, into reflect.Value) {
	if r.null() || !r.is('{') {
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
	if r.null() {
		into.SetZero()
		return
	}
	if into.IsNil() {
		into.Set(reflect.New(into.Type().Elem()))
	}
	p.elem.decode(r, into.Elem())
}

// decodeSlice keeps the array of a previous member with the same name, and so decodes into its elements, like encoding/json.
func (p *plan) decodeSlice(r *anyReader, into reflect.Value) {
	if r.null() {
		into.SetZero()
		return
	}
	if !r.is('[') {
		return
	}
	if into.IsNil() {
		into.Set(reflect.MakeSlice(into.Type(), 0, 0))
	}
	into.SetLen(0)
	for r.next(); r.err == nil && r.text[r.at] != ']'; r.comma() {
		n := into.Len()
		into.Grow(1)
		into.SetLen(n + 1)
		p.elem.decode(r, into.Index(n))
	}
	r.next()
}

func (p *plan) decodeMap(r *anyReader, into reflect.Value) {
	if r.null() {
		into.SetZero()
		return
	}
	if !r.is('{') {
		return
	}
	if into.IsNil() {
		if values, ok := into.Addr().Interface().(*map[string]any); ok {
			*values = r.object()
			return
		}
		into.Set(reflect.MakeMap(into.Type()))
	}
	texts, _ := into.Interface().(map[string]string)
	for r.next(); r.err == nil && r.text[r.at] != '}'; r.comma() {
		name := r.string().(string)
		r.next() // the colon
		if texts != nil && r.text[r.at] == '"' {
			texts[name] = r.string().(string)
			continue
		}
		value := reflect.New(into.Type().Elem()).Elem()
		p.elem.decode(r, value)
		into.SetMapIndex(reflect.ValueOf(name).Convert(into.Type().Key()), value)
	}
	r.next()
}

// decodeUnusual decodes a value with json-iterator: a struct with a field that addFields does not support, a []byte that is
// not a string, or a type that no JSON fits.
func decodeUnusual(r *anyReader, into reflect.Value) {
	r.fail(api.UnmarshalFromString(r.raw(), into.Addr().Interface()))
}

func decodeInterface(r *anyReader, into reflect.Value) {
	into.SetZero()
	if value := r.value(); value != nil {
		into.Set(reflect.ValueOf(value))
	}
}

// decodeStandard decodes a value with encoding/json. json-iterator decodes these types wrongly:
//
//   - json.Number, because json-iterator accepts any string.
//   - json.Unmarshaler and encoding.TextUnmarshaler, because json-iterator calls UnmarshalText for null, and decodes null
//     as an empty json.RawMessage. It also continues after an error at a wrong position, and would then call
//     UnmarshalJSON with arbitrary or no text, although many methods read text[0].
//   - Arrays, because json-iterator always writes the first element, even into an array of length 0. The server would
//     then control the memory behind the array.
//   - Maps whose keys are not plain strings, because json-iterator also accepts floats, booleans and leading white space.
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

// decodeString leaves the string unchanged if the value is null, like encoding/json. json-iterator would set it to "", which
// makes a difference if the object has the member twice.
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

// decodeNumber decodes a number of any type. json-iterator accepts 25000000000000000000 as an int64 and rounds a float32 twice.
func decodeNumber(r *anyReader, into reflect.Value) {
	if text := r.raw(); text != "null" && !setNumber(into, text) {
		r.fail(errMismatch)
	}
}

func decodeBytes(r *anyReader, into reflect.Value) {
	if r.text[r.at] != '"' {
		decodeUnusual(r, into)
		return
	}
	data, err := base64.StdEncoding.DecodeString(r.content())
	r.fail(err)
	into.SetBytes(data)
}

// null skips null.
func (r *anyReader) null() bool {
	if r.text[r.at] != 'n' {
		return false
	}
	r.raw()
	return true
}

// is reports whether the next byte is c. Otherwise decoding fails.
func (r *anyReader) is(c byte) bool {
	if r.text[r.at] == c {
		return true
	}
	r.fail(errMismatch)
	return false
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
