package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// decodeLikeKubernetes decodes with encoding/json. In fields of type any, it decodes numbers as Kubernetes does.
func decodeLikeKubernetes(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	return convertNumbers(reflect.ValueOf(into).Elem())
}

// convertNumbers replaces each json.Number in fields of type any with an int64 or a float64.
func convertNumbers(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return convertNumbers(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				if err := convertNumbers(v.Field(i)); err != nil {
					return err
				}
			}
		}
	case reflect.Interface:
		if v.NumMethod() == 0 && !v.IsNil() {
			converted, err := convertAny(v.Interface())
			if converted != nil {
				v.Set(reflect.ValueOf(converted))
			}
			return err
		}
	case reflect.Array:
		for i := range v.Len() {
			if err := convertNumbers(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Slice:
		if anys, ok := v.Interface().([]any); ok {
			_, err := convertAny(anys)
			return err
		}
	case reflect.Map:
		if anys, ok := v.Interface().(map[string]any); ok {
			_, err := convertAny(anys)
			return err
		}
	}
	return nil
}

func convertAny(value any) (_ any, err error) {
	switch value := value.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
			return n, nil
		}
		return strconv.ParseFloat(string(value), 64)
	case []any:
		for i := range value {
			if value[i], err = convertAny(value[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for name := range value {
			if value[name], err = convertAny(value[name]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// requireAgreement requires that this package and encoding/json decode text to the same result, or that both reject it.
func requireAgreement(t *testing.T, text []byte) {
	object, err := lw.ParseObject(text)
	if err != nil {
		require.False(t, json.Valid(text) && bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) && !isOddEnvelope(err), "%s", err)
		return
	}
	if excluded(object.Get("")) {
		return
	}
	got, want := new(thing), new(thing)
	err = Into(object, got)
	wantErr := decodeLikeKubernetes(text, want)
	if err == nil {
		if wantErr != nil && strings.Contains(wantErr.Error(), "invalid surrogate pair") {
			return // Go 1.27 rejects a lone surrogate in a quoted string, but older versions decode it as U+FFFD
		}
		require.NoError(t, wantErr)
		require.Equal(t, want, got)
		return
	}
	fault := err.(*fieldError)
	if wantErr == nil && strings.HasPrefix(fault.field, "quoted") {
		// In a quoted number, encoding/json accepts all numbers that strconv accepts, for example 007 and -Inf.
		require.False(t, json.Valid([]byte(object.Get(fault.field).String())), "%s", err)
		return
	}
	require.Error(t, wantErr, "%s", err)
	if fault.field != "" {
		require.True(t, object.Get(fault.field).Exists(), "%s", err)
	}
}

// isOddEnvelope reports whether err comes from a rule that package lw has but encoding/json lacks. Package lw limits
// the nesting depth, and requires strings for kind, apiVersion and some metadata.
func isOddEnvelope(err error) bool {
	return errors.Is(err, lw.ErrInvalidResponse) && regexp.MustCompile(`expected (.* to be a|at most 1000 levels|an object, found)`).MatchString(err.Error())
}

// excluded reports whether an object has duplicate members. The fuzz tests skip such objects, because the path in an
// error does not say which of two members it means. Names that differ only in case count as duplicates, because
// encoding/json confuses them. TestDuplicateMembersAgreeWithEncodingJSON tests the values of duplicate members.
func excluded(value lw.Value) bool {
	names := map[string]bool{}
	for name, member := range value.Members() {
		folded := strings.ToLower(name)
		if names[folded] || known[folded] != "" && known[folded] != name || !hasASCIICase(name) || excluded(member) {
			return true
		}
		names[folded] = true
	}
	for element := range value.Elements() {
		if excluded(element) {
			return true
		}
	}
	return false
}

// hasASCIICase reports whether name is free of the Kelvin sign and the long s, which encoding/json treats as k and s.
func hasASCIICase(name string) bool {
	return strings.IndexFunc(name, func(r rune) bool { return r == '\u212a' || r == '\u017f' }) < 0
}

var fields = slices.Sorted(maps.Values(known))

// known maps each JSON field name in lower case to the name itself.
var known = knownNames(reflect.TypeFor[thing](), map[string]string{"next": "next", "a": "a", "b": "b"})

func knownNames(t reflect.Type, names map[string]string) map[string]string {
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			name = field.Name
		}
		if field.Name == "meta" {
			knownNames(field.Type, names)
		}
		names[strings.ToLower(name)] = name
	}
	return names
}

func TestAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range seeds {
		t.Run(text[:min(len(text), 60)], func(t *testing.T) { requireAgreement(t, []byte(text)) })
	}
}

// FuzzDecode compares this package with encoding/json for whole objects. Both must succeed or both must fail, and a
// fieldError must name an existing field.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(seeds[0]))
	for i := 1; i < len(seeds); i += 40 {
		f.Add([]byte(seeds[i]))
	}
	f.Fuzz(func(t *testing.T, text []byte) { requireAgreement(t, text) })
}

// FuzzField compares this package with encoding/json for one field at a time. The fuzzer chooses a known field and a
// value.
func FuzzField(f *testing.F) {
	for i, value := range values {
		f.Add(uint8(i), value)
		f.Add(uint8(i*7), "["+value+"]")
		f.Add(uint8(i*13), `{"a":`+value+`}`)
	}
	f.Fuzz(func(t *testing.T, field uint8, value string) {
		requireAgreement(t, []byte(`{"`+fields[int(field)%len(fields)]+`":`+value+`}`))
	})
}
