package lw

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/stretchr/testify/require"
)

func scanObject(t *testing.T, text string) *Scanned { return scanManaged(t, text, false) }

// scanManaged scans an object. managed is the client's option KeepManagedFields.
func scanManaged(t *testing.T, text string, managed bool) *Scanned {
	t.Helper()
	s := newScanner(strings.NewReader(text), 0, nil)
	o := Scanned{managed: managed}
	s.Mark()
	s.object(&o)
	require.NoError(t, s.Err())
	o.body = s.Frame()
	return &o
}

func decoded(s *Scanned) *Object { return newObject(s, s.cutsFor(nil)) }

func TestManagedFieldsAreRemoved(t *testing.T) {
	cases := map[string]string{
		`{"metadata":{"name":"n","managedFields":[{"a":1}],"uid":"u"}}`:                      `{"metadata":{"name":"n","uid":"u"}}`,
		`{"metadata":{"managedFields":[],"name":"n","uid":"u"}}`:                             `{"metadata":{"name":"n","uid":"u"}}`,
		`{"metadata":{"name":"n","uid":"u","managedFields":[1]}}`:                            `{"metadata":{"name":"n","uid":"u"}}`,
		`{"metadata":{"managedFields":[{}]},"a":1}`:                                          `{"metadata":{},"a":1}`,
		`{"metadata": { "managedFields" : [ ] , "name" : "n" , "uid":"u" } }`:                `{"metadata": {  "name" : "n" , "uid":"u" } }`,
		`{"metadata":{"name":"n" , "managedFields" : null , "uid":"u"}}`:                     `{"metadata":{"name":"n" , "uid":"u"}}`,
		`{"metadata":{"managedFields":[1],"managedFields":[2],"name":"n","uid":"u"}}`:        `{"metadata":{"name":"n","uid":"u"}}`,
		`{"metadata":{"name":"n","managedFields":[1],"uid":"u","managedFields":[2]},"b":[]}`: `{"metadata":{"name":"n","uid":"u"},"b":[]}`,
		`{"metadata":{"name":"n","uid":"u"},"spec":{"managedFields":[1]},"managedFields":2}`: `{"metadata":{"name":"n","uid":"u"},"spec":{"managedFields":[1]},"managedFields":2}`,
	}
	for text, want := range cases {
		scanned := scanObject(t, text)
		object := decoded(scanned)
		require.Equal(t, want, object.Raw())
		require.True(t, json.Valid([]byte(object.Raw())))
		if strings.Contains(want, `"n"`) {
			require.Equal(t, "n", object.GetName(), text)
			require.Equal(t, "u", object.GetUID(), text)
		}
		require.Equal(t, text, newObject(scanned, nil).Raw())
	}
}

func TestSameComparesDecodedObject(t *testing.T) {
	texts := []string{
		`{"metadata":{"name":"n"}}`,
		`{"kind":"Pod","metadata":{"name":"n"}}`,
		`{"metadata":{"name":"n","managedFields":[1]},"a":1}`,
		`{"metadata":{"managedFields":[1],"name":"n","managedFields":[2]},"a":1}`,
	}
	scan := func(text string, list ListMeta, managed bool) *Scanned {
		scanned := scanManaged(t, text, managed)
		scanned.missing = newMissing(&list)
		return scanned
	}
	for _, text := range texts {
		for _, list := range []ListMeta{{}, {kind: "PodList", apiVersion: "v1"}} {
			for _, managed := range []bool{false, true} {
				same := func(o *Object) bool { return RawCodec{}.Identity().Same(o, scan(text, list, managed)) }
				object, err := RawCodec{}.Decode(scan(text, list, managed))
				require.NoError(t, err)
				require.Equal(t, managed && strings.Contains(text, "managedFields"), strings.Contains(object.Raw(), "managedFields"))
				require.True(t, same(object), text)
				require.Equal(t, "before"+object.Raw(), string(RawCodec{}.AppendText([]byte("before"), scan(text, list, managed))))
				for i := range object.Raw() {
					changed := []byte(object.Raw())
					changed[i] ^= 1
					require.False(t, same(&Object{raw: string(changed)}), "%s", changed)
					require.False(t, same(&Object{raw: object.Raw()[:i]}), "an object truncated at byte %d must not equal the original", i)
				}
				require.False(t, same(&Object{raw: object.Raw() + "}"}))
			}
		}
	}
}

// If metadata has escape sequences, nulls or duplicate members, the scanner must return the same values as encoding/json.
func TestUnusualMetadata(t *testing.T) {
	object := decoded(scanObject(t, `{"spec":{"metadata":{"name":"no"}},"metadata":{"name":"old","resourceVersion":"7","n\u0061me":"\u0061\/b","namespace":null,"annotations":null,"labels":{"name":"no"}}}`))
	require.Equal(t, Key{Name: "a/b"}, KeyOf(object))
	require.Equal(t, "7", object.GetResourceVersion())

	scanned := scanObject(t, `{"metadata":{"managedFields":[1],"name":"\u0061b","managedFields":[2],"namespace":"c","uid":"\\d"}}`)
	scanned.missing = newMissing(&ListMeta{kind: "PodList", apiVersion: "v1"})
	object = decoded(scanned)
	require.Equal(t, Key{Name: "ab", Namespace: "c"}, KeyOf(object), "the key must be correct even though added and removed members shift its position")
	require.Equal(t, `\d`, object.GetUID())
	require.Empty(t, object.GetResourceVersion())
}

func TestObjectDoesNotAliasBuffer(t *testing.T) {
	texts := []string{
		`{"metadata":{"name":"n"}}`,
		`{"metadata":{"name":"n","managedFields":[]}}`,
		`{"metadata":{"name":"n","managedFields":[],"managedFields":[]}}`,
	}
	for _, text := range texts {
		for _, list := range []ListMeta{{}, {kind: "PodList", apiVersion: "v1"}} {
			scanned := scanObject(t, text)
			scanned.missing = newMissing(&list)
			object := decoded(scanned)
			before := strings.Clone(object.Raw())
			clear(scanned.body)
			require.Equal(t, before, object.Raw())
			require.Equal(t, "n", object.GetName())
		}
	}
}

func TestItemsGetKindAndAPIVersion(t *testing.T) {
	pod := sample.Pods(3, 1)[0]
	watched := decoded(scanObject(t, pod.JSON()))
	scanned := scanObject(t, pod.Item())
	scanned.missing = newMissing(&ListMeta{kind: "PodList", apiVersion: "v1"})
	listed := decoded(scanned)
	require.Equal(t, watched, listed)
	require.Equal(t, pod.Name, listed.GetName())
	require.Equal(t, "Pod", listed.Kind())

	for text, want := range map[string]string{
		`{"a":1}`: `{"kind":"Pod","apiVersion":"v1","a":1}`, `{"kind":"Pod"}`: `{"apiVersion":"v1","kind":"Pod"}`,
		`{"apiVersion":"v1"}`: `{"kind":"Pod","apiVersion":"v1"}`, `{"kind":"Pod","apiVersion":"v1"}`: `{"kind":"Pod","apiVersion":"v1"}`,
	} {
		scanned := scanObject(t, text)
		scanned.missing = newMissing(&ListMeta{kind: "PodList", apiVersion: "v1"})
		require.Equal(t, want, decoded(scanned).Raw())
	}
	require.Equal(t, `"kind":"Old Pod","apiVersion":"v 1",`, newMissing(&ListMeta{kind: "Old PodList", apiVersion: "v 1"}).both)
	for _, m := range []ListMeta{{kind: "List"}, {kind: "Pod"}, {kind: `"List`}, {apiVersion: "a\nb"}} {
		require.Empty(t, newMissing(&m).both, "newMissing must return no members for %v", m)
	}
}

func TestObjectFields(t *testing.T) {
	pod := sample.Pods(5, 1)[0]
	object, err := ParseObject([]byte(pod.JSON()))
	require.NoError(t, err)
	require.Equal(t, pod.Phase, object.Get("status.phase").String())
	require.Equal(t, pod.App, object.Get(`metadata.labels.app\.kubernetes\.io/name`).String())
	require.EqualValues(t, 8080, object.Get("spec.containers[0].ports[0].containerPort").Int())
	require.True(t, object.Get("spec.containers[0].securityContext.runAsNonRoot").Bool())
	require.True(t, object.Get("metadata.managedFields[1].subresource").Exists(), "ParseObject must keep managedFields")
	for _, path := range []string{"status.nothing", "spec.containers[7]", "spec.containers[x]", "spec.containers[", "metadata.name.x", "status..phase.x"} {
		require.False(t, object.Get(path).Exists(), path)
	}
	app, ok := object.Label("app")
	require.True(t, ok)
	require.Equal(t, pod.App, app)
	_, ok = object.Label("app.kubernetes.io")
	require.False(t, ok)
	require.Equal(t, pod.UID, object.Get("metadata.ownerReferences[0].uid").String())
	require.Equal(t, `quoted "text" and a path C:\temp`, object.Get("metadata.annotations.note").String())
}

func TestObjectEqualComparesJSON(t *testing.T) {
	parse := func(text string) *Object {
		object, err := ParseObject([]byte(text))
		require.NoError(t, err)
		return object
	}
	object := parse(`{"a":1}`)
	require.True(t, object.Equal(object))
	require.True(t, object.Equal(parse(`{"a":1}`)))
	require.True(t, object.Equal(parse("\n {\"a\":1}\n")), "leading and trailing white space must be ignored")
	require.False(t, object.Equal(parse(`{"a":2}`)))
}

// The methods of Value rely on valid JSON. So a program must not be able to make a Value from unchecked text, for
// example with a type conversion.
func TestValueHoldsOnlyParsedText(t *testing.T) {
	value := reflect.TypeFor[Value]()
	require.False(t, reflect.TypeFor[string]().ConvertibleTo(value))
	require.False(t, reflect.TypeFor[[]byte]().ConvertibleTo(value))
	for i := range value.NumField() {
		require.False(t, value.Field(i).IsExported())
	}
	for _, text := range []string{`"`, `{"a"`, `{"a":`, `[1,`, `"\`, "-", ""} {
		value, err := ParseValue([]byte(text))
		require.Error(t, err, text)
		require.False(t, value.Exists(), text)
	}
	require.Empty(t, Value{}.String()+Value{}.Raw()+Value{}.Get("a[0].b").Raw())
	object, err := ParseObject([]byte(`{ "a" : [ 1 ] }`))
	require.NoError(t, err)
	require.Equal(t, object.Raw(), object.Get("").Raw())
}

func TestValuesExcludeWhiteSpace(t *testing.T) {
	for _, space := range []string{"", " ", "\n", "\t\r ", "  "} {
		value, err := ParseValue([]byte(strings.ReplaceAll(`~{~"a"~:~1~,~"b"~:~[~true~,~"x"~,~{~}~,~-2~]~}~`, "~", space)))
		require.NoError(t, err)
		require.EqualValues(t, 1, value.Get("a").Int())
		var elements []string
		for element := range value.Get("b").Elements() {
			elements = append(elements, strings.Trim(element.Raw(), "{}")+"|")
		}
		require.Equal(t, "true|,\"x\"|,"+strings.Trim("{"+space+"}", "{}")+"|,-2|", strings.Join(elements, ","))
	}
}

func TestEscapedNamesInPaths(t *testing.T) {
	value := Value{`{"a.b":{"c":1,"d[0]":2},"a.[":[3],"\\":4}`}
	for path, want := range map[string]string{`a\.b.c`: "1", `a\.b.d\[0]`: "2", `a\.\[[0]`: "3", `\\`: "4", `a\.bc`: "", `a\`: ""} {
		require.Equal(t, want, value.Get(path).String(), path)
	}
}

func TestParseObjectErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                 "malformed response at byte 0: expected an object, found the end of the stream",
		`[]`:               "malformed response at byte 0: expected an object, found '['",
		`{} x`:             "malformed response at byte 3: expected the end of the text, found 'x'",
		`{"metadata":null`: "malformed response at byte 16: expected ',' or '}', found the end of the stream",
	} {
		_, err := ParseObject([]byte(text))
		require.EqualError(t, err, want)
	}
}

func TestObjectStringHidesContent(t *testing.T) {
	object, err := ParseObject([]byte(`{"kind":"Secret","metadata":{"namespace":"shop","name":"token","resourceVersion":"7"},"data":{"a":"s3cret"}}`))
	require.NoError(t, err)
	for _, format := range []string{"%v", "%s", "%+v"} {
		require.Equal(t, "Secret shop/token@7", fmt.Sprintf(format, object))
	}
}

func TestIntAgreesWithStrconv(t *testing.T) {
	for _, text := range []string{
		"", "0", "7", "-7", "-0", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
		"18446744073709551616", "99999999999999999999999", "1.5", "1e3", "true", "null", `"5"`, "[5]", "-",
	} {
		want, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			want = 0
		}
		require.Equal(t, want, Value{text}.Int(), "%q", text)
	}
	list := Value{`{"a":[1]}`}
	require.EqualValues(t, 1, list.Get("a[0]").Int())
	for _, index := range []string{"", "-0", "+0", "0x0", "2147483648", "4294967296", "18446744073709551616"} {
		require.False(t, list.Get("a["+index+"]").Exists(), index)
	}
}

// The scanner processes eight bytes at once, so the test shifts each text to several alignments.
func TestValueEnds(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `[[[[[[[[]]]]]]]]`, `[{"a":[{}]},{}]`, `[[],[[]],[[],[]],[]]`, `{"a":{"b":{"c":{}}},"d":[1,2]}`,
		`["]"]`, `["}{[","]]]]]]]]]"]`, `["\"]"]`, `["\\"]`, `["\\\"]"]`, `["\\\\\\\\","\"\"\"\"\"\"\"\"]"]`,
		`{"name \u005d":"{","\n":[",]",null,-1.5e3]}`, `["Y_y\u007f","é]é"]`,
		"[\"\xa2]\"]", "[\"\xa2\xa2]\",{},\"\xdb\xdd\xfb\xfd\xdc\x7f\"]", // non-ASCII bytes; some are brackets with the high bit set
	} {
		for before := range 17 {
			for after := range 9 {
				in, err := ParseValue([]byte(`{"p":"` + strings.Repeat("x", before) + `","a":` + text + strings.Repeat(" ", after) + `}`))
				require.NoError(t, err)
				require.Equal(t, text, in.Get("a").Raw())
			}
		}
	}
}
