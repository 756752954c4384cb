package lw

import (
	"encoding/json"
	"errors"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

func TestProjection(t *testing.T) {
	const head = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"n"}`
	cases := []struct {
		name, paths, text, want string // text and want omit the required members and the closing brace
	}{
		{"one field", "spec.nodeName", `,"spec":{"a":1,"nodeName":"x","b":[2]},"status":{}`, `,"spec":{"nodeName":"x"}`},
		{"first member of an object", "a.b", `,"a":{"b":1,"c":2,"d":3}`, `,"a":{"b":1}`},
		{"last member of an object", "a.d", `,"a":{"b":1,"c":2,"d":3}`, `,"a":{"d":3}`},
		{"every second member", "a.b a.d a.f", `,"a":{"a":0,"b":1,"c":2,"d":3,"e":4,"f":5,"g":6}`, `,"a":{"b":1,"d":3,"f":5}`},
		{"fields in the order of the JSON text", "b a", `,"a":1,"x":2,"b":3`, `,"a":1,"b":3`},
		{"whole objects and arrays", "a b", `,"a":{"x":[{"y":1}]},"b":[1,{"c":2}]`, `,"a":{"x":[{"y":1}]},"b":[1,{"c":2}]`},
		{"missing field", "a.b.c", `,"x":1`, ``},
		{"missing field of an existing object", "a.b.c", `,"a":{"b":{"x":1},"y":2}`, `,"a":{"b":{}}`},
		{"white space", "a.c b", ` , "a" : { "b" : 1 , "c" : 2 , "d" : 3 } , "x" : 4, "b":5 `, ` , "a" : {  "c" : 2 }, "b":5 `},
		{"empty object with white space", "a.z", `,"a": { "b" : 1 , "c" : 2 } `, `,"a": {  } `},

		{"field of every element", "c[*].i", `,"c":[{"i":1,"n":2},{"n":3},{"n":4,"i":5}]`, `,"c":[{"i":1},{},{"i":5}]`},
		{"all elements, unchanged", "c[*]", `,"c":[{"i":1},2,[3]]`, `,"c":[{"i":1},2,[3]]`},
		{"nested arrays", "c[*][*].i", `,"c":[[{"i":1,"n":2}],[],[{"n":3}]]`, `,"c":[[{"i":1}],[],[{}]]`},
		{"empty array", "c[*].i", `,"c":[ ]`, `,"c":[ ]`},
		{"elements of other types", "c[*].i", `,"c":[1,"two",null,true,[3],{"i":4}]`, `,"c":[1,"",null,true,[],{"i":4}]`},

		{"null on the path", "a.b", `,"a":null`, `,"a":null`},
		{"scalar on the path", "a.b c.d e.f", `,"a":"secret","c":-1.5e3,"e":false`, `,"a":"","c":-1.5e3,"e":false`},
		{"path without [*] for an array", "a.b", `,"a":[{"b":1},2]`, `,"a":[]`},
		{"[*] for an object", "a[*].b", `,"a":{"b":1}`, `,"a":{}`},
		{"escaped quote in an emptied string", "a.b", `,"a":"x\"y\\"`, `,"a":""`},

		{"overlapping", "a a.b", `,"a":{"b":1,"c":2}`, `,"a":{"b":1,"c":2}`},
		{"overlapping fields", "a.b a", `,"a":{"b":1,"c":2}`, `,"a":{"b":1,"c":2}`},
		{"overlapping elements", "a[*].b a[*]", `,"a":[{"b":1,"c":2}]`, `,"a":[{"b":1,"c":2}]`},
		{"members and elements of one field", "a.b a[*].b", `,"a":[{"b":1,"c":2}],"a":{"b":1,"c":2}`, `,"a":[{"b":1}],"a":{"b":1}`},
		{"repeated path", "a.b a.b", `,"a":{"b":1,"c":2}`, `,"a":{"b":1}`},

		{"duplicate members", "a.b", `,"a":{"b":1,"b":2,"c":3},"a":{"c":4}`, `,"a":{"b":1,"b":2},"a":{}`},
		{"duplicate member that hides the field", "a.b", `,"a":{"b":1},"a":"x"`, `,"a":{"b":1},"a":""`},
		{"escape sequences in names", "a.b", `,"\u0061":{"\u0062":1,"\u0063":2}`, `,"\u0061":{"\u0062":1}`},
		{"names with dots and brackets", `a.k8s\.io/x a.y\[0] a.back\\slash`, `,"a":{"k8s.io/x":1,"y[0]":2,"back\\slash":3,"k8s":{"io/x":4}}`, `,"a":{"k8s.io/x":1,"y[0]":2,"back\\slash":3}`},
		{"leading dot", ".a.b", `,"a":{"b":1,"c":2}`, `,"a":{"b":1}`},
		{"fields of required metadata", "kind.x metadata.name.x", `,"a":1`, ``},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := project(t, strings.Fields(c.paths)...)
			text := head + c.text + "}"
			scanned := scanObject(t, text)
			object, err := p.Decode(scanned)
			require.NoError(t, err)
			require.Equal(t, head+c.want+"}", object.Raw())
			require.True(t, json.Valid([]byte(object.Raw())))
			require.Equal(t, "n", object.GetName())
			require.True(t, p.Identity().Same(object, scanned))
			whole := newObject(scanned, nil)
			for _, path := range strings.Fields(c.paths) {
				require.Equal(t, whole.Get(path), object.Get(path), path)
			}
		})
	}
}

// Omit must drop only the fields at the given paths, and must reject a path to a field that every object needs.
func TestOmit(t *testing.T) {
	for name, c := range map[string]struct{ paths, text, want string }{
		"one field":                   {"spec.b", `,"spec":{"a":1,"b":[2],"c":3}`, `,"spec":{"a":1,"c":3}`},
		"the only field":              {"spec.b", `,"spec":{"b":[2]}`, `,"spec":{}`},
		"a whole member":              {"status", `,"spec":1,"status":{"a":1}`, `,"spec":1`},
		"a field of every element":    {"c[*].env", `,"c":[{"i":1,"env":[1]},{"env":2},3,"x"]`, `,"c":[{"i":1},{},3,"x"]`},
		"all elements":                {"c[*]", `,"c":[{"i":1},2]`, `,"c":[]`},
		"a path within another path":  {"a.b a a.c", `,"a":{"b":1},"d":2`, `,"d":2`},
		"several fields":              {"a.b a.c[*].d", `,"a":{"b":1,"c":[{"d":1,"e":2}],"f":3}`, `,"a":{"c":[{"e":2}],"f":3}`},
		"a string on the path":        {"a.b a[*]", `,"a":"secret"`, `,"a":"secret"`},
		"an array on a member's path": {"a.b", `,"a":[{"b":1}]`, `,"a":[{"b":1}]`},
		"a missing field":             {"x.y.z", `,"a":1`, `,"a":1`},
	} {
		t.Run(name, func(t *testing.T) {
			codec, err := Omit(strings.Fields(c.paths)...)
			require.NoError(t, err)
			const head = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"n"}`
			object, err := codec.Decode(scanObject(t, head+c.text+"}"))
			require.NoError(t, err)
			require.Equal(t, head+c.want+"}", object.Raw())
		})
	}
	for _, path := range []string{"metadata", "kind", "apiVersion", "metadata.uid", "metadata.name", "", "a[0]"} {
		_, err := Omit(path)
		require.Error(t, err, path)
	}
	codec, err := Omit("metadata.annotations", "metadata.labels.x")
	require.NoError(t, err)
	object, err := codec.Decode(scanObject(t, `{"metadata":{"annotations":{"a":"b"},"name":"n","uid":"u","labels":{"x":"1","y":"2"}}}`))
	require.NoError(t, err)
	require.Equal(t, `{"metadata":{"name":"n","uid":"u","labels":{"y":"2"}}}`, object.Raw())
	require.Equal(t, "u", object.GetUID())
}

func TestProjectedMetadata(t *testing.T) {
	const text = `{"x":1,"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"g","name":"n","managedFields":[{"manager":"m","time":"t"}],` +
		`"namespace":"ns","labels":{"a":"1","b":"2"},"uid":"u","annotations":{"c":"3","d":"4"},"resourceVersion":"7"},"status":{}}`
	const start, end = `{"apiVersion":"v1","kind":"Pod","metadata":{`, `}}`
	cases := map[string]string{
		"":                                  `"name":"n","namespace":"ns","uid":"u","resourceVersion":"7"`,
		"metadata.labels":                   `"name":"n","namespace":"ns","labels":{"a":"1","b":"2"},"uid":"u","resourceVersion":"7"`,
		"metadata.annotations":              `"name":"n","namespace":"ns","uid":"u","annotations":{"c":"3","d":"4"},"resourceVersion":"7"`,
		"metadata.annotations.d":            `"name":"n","namespace":"ns","uid":"u","annotations":{"d":"4"},"resourceVersion":"7"`,
		"metadata":                          `"generateName":"g","name":"n","managedFields":[{"manager":"m","time":"t"}],"namespace":"ns","labels":{"a":"1","b":"2"},"uid":"u","annotations":{"c":"3","d":"4"},"resourceVersion":"7"`,
		"metadata.managedFields":            `"name":"n","managedFields":[{"manager":"m","time":"t"}],"namespace":"ns","uid":"u","resourceVersion":"7"`,
		"metadata.managedFields[*].manager": `"name":"n","managedFields":[{"manager":"m"}],"namespace":"ns","uid":"u","resourceVersion":"7"`,
		"metadata.managedFields[*].manager metadata.labels.a metadata metadata.annotations.c": `"generateName":"g","name":"n","managedFields":[{"manager":"m","time":"t"}],"namespace":"ns","labels":{"a":"1","b":"2"},"uid":"u","annotations":{"c":"3","d":"4"},"resourceVersion":"7"`,
	}
	for paths, want := range cases {
		p := project(t, strings.Fields(paths)...)
		for _, managed := range []bool{true, false} {
			object, err := p.Decode(scanManaged(t, text, managed))
			require.NoError(t, err)
			if !managed {
				want = regexp.MustCompile(`"managedFields":\[[^]]*\],`).ReplaceAllString(want, "")
			}
			require.Equal(t, start+want+end, object.Raw(), paths)
			require.Equal(t, Key{Namespace: "ns", Name: "n"}, KeyOf(object))
			require.Equal(t, []string{"u", "7"}, []string{object.GetUID(), object.GetResourceVersion()})
			_, err = NewClient(&scriptedTransport{}, Pods(""), Codec[*Object](p), &ClientOptions{KeepManagedFields: managed})
			require.Equal(t, managed || !p.namesManagedFields(), err == nil, paths)
		}
	}
}

func TestProjectedItems(t *testing.T) {
	pod, p := sample.Pods(3, 1)[0], tenFields(t)
	watched, err := p.Decode(scanObject(t, pod.JSON()))
	require.NoError(t, err)
	scanned := scanObject(t, pod.Item())
	scanned.missing = newMissing(&ListMeta{kind: "PodList", apiVersion: "v1"})
	listed, err := p.Decode(scanned)
	require.NoError(t, err)
	require.Equal(t, watched, listed)
	require.Equal(t, pod.Phase, listed.Get("status.phase").String())
	clear(scanned.body)
	require.Equal(t, watched, listed, "the listed object must not share memory with the buffer")
}

func TestSameComparesKeptFields(t *testing.T) {
	p := project(t, "a.b")
	const text = `{"metadata":{"name":"n"},"a":{"x":1,"b":2},"c":3}`
	object, err := p.Decode(scanObject(t, text))
	require.NoError(t, err)
	for other, same := range map[string]bool{
		text: true,
		`{"metadata":{"name":"n"},"a":{"x":5,"b":2,"y":6},"d":7}`: true,
		`{"metadata":{"name":"n"},"a":{"x":1,"b":4},"c":3}`:       false,
		`{"metadata":{"name":"n"},"a":{"b":2,"b":2}}`:             false,
		`{"metadata":{"name":"n"}}`:                               false,
	} {
		require.Equal(t, same, p.Identity().Same(object, scanObject(t, other)), other)
	}
}

func TestMalformedPaths(t *testing.T) {
	for path, want := range map[string]string{
		"":               `lw: path "": expected a member name at byte 0`,
		".":              `lw: path ".": expected a member name at byte 1`,
		"a.":             `lw: path "a.": expected a member name at byte 2`,
		"a..b":           `lw: path "a..b": expected a member name at byte 2`,
		"a.[*]":          `lw: path "a.[*]": expected a member name at byte 2`,
		"[*].a":          `lw: path "[*].a": expected a member name at byte 0`,
		"a[*]b":          `lw: path "a[*]b": expected a dot or [ at byte 4`,
		"a[*":            `lw: path "a[*": expected ] at byte 3`,
		"a[":             `lw: path "a[": expected ] at byte 2`,
		"a[]":            `lw: path "a[]": expected an index or * in brackets at byte 2`,
		"a[-1]":          `lw: path "a[-1]": expected an index or * in brackets at byte 2`,
		"a[x].b":         `lw: path "a[x].b": expected an index or * in brackets at byte 2`,
		"a[99999999999]": `lw: path "a[99999999999]": expected an index or * in brackets at byte 2`,
		`a\`:             `lw: path "a\": expected a character after the backslash at byte 1`,
		`a.\`:            `lw: path "a.\": expected a character after the backslash at byte 2`,
		"a[0].b":         `lw: path "a[0].b": expected [*] instead of an index at byte 1`,
	} {
		_, err := Project("spec", path)
		require.EqualError(t, err, want)
		malformed, ok := errors.AsType[*pathError](err)
		require.True(t, ok)
		require.Equal(t, path, malformed.Path)
	}
}

func TestGetWithWildcard(t *testing.T) {
	value := Value{`{"c":[{"n":1},{"i":2},{"i":3}],"d":[[],[4]],"e":[{"n":null}],"o":{"i":1}}`}
	for path, want := range map[string]string{
		"c[*].i": "2", "c[*]": `{"n":1}`, "d[*][*]": "4", "d[*][0]": "4", "c[1].i": "2", "e[*].n": "null",
		"c[*].x": "", "o[*].i": "", "c[*": "", "c[*]i": "", "c.[1]": "", "c[1]..i": "", "c.": "", `c\`: "", "c[*].": "",
	} {
		require.Equal(t, want, value.Get(path).Raw(), path)
	}
}

// opaque wraps a projection in another codec, so that the client does not detect the projection.
type opaque struct{ Codec[*Object] }

// The client does not know the projection until the codec decodes the first object. So the first object is projected
// after the scan, and later objects are projected during the scan. Both ways must have the same result.
func TestProjectionInsideCodec(t *testing.T) {
	p := project(t, "a")
	const event = `{"type":"ADDED","object":{"metadata":{"name":"n","managedFields":[1]},"a":1,"b":2}}`
	client, err := NewClient(&scriptedTransport{answers: []answer{{body: event + event}}}, Pods(""), opaque{p}, nil)
	require.NoError(t, err)
	seen := 0
	for event, err := range client.Watch(t.Context(), ListOptions{}) {
		require.NoError(t, err)
		if event.Type == Added {
			seen++
			require.Equal(t, `{"metadata":{"name":"n"},"a":1}`, event.Object.Raw())
		}
	}
	require.Equal(t, 2, seen)

	scanned := scanObject(t, `{"metadata":{"name":"n","managedFields":[1]},"a":1,"b":2}`)
	for _, codec := range []Codec[*Object]{p, RawCodec{}, p} {
		object, err := codec.Decode(scanned)
		require.NoError(t, err)
		fresh, err := codec.Decode(scanObject(t, string(scanned.body)))
		require.NoError(t, err)
		require.Equal(t, fresh, object, "the result must not depend on the previous codec")
	}
}

// A complete Pod is 6.5 kB of JSON. The projection keeps ten of its fields.
func TestProjectedMemory(t *testing.T) {
	const n = 10_000
	w, p := newWhole(sample.Events(7, 500)), tenFields(t)
	heap := func() int {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int(stats.HeapAlloc)
	}
	objects := make([]*Object, n)
	w.next() // this call grows the buffer before the measurement
	before := heap()
	for i := range objects {
		w.event(&w.scanned)
		objects[i], _ = p.Decode(&w.scanned)
	}
	each := (heap() - before) / n
	t.Logf("%d bytes per object, including %d bytes of JSON", each, len(objects[0].Raw()))
	require.LessOrEqual(t, each, 640)
	runtime.KeepAlive(objects)
	runtime.KeepAlive(w)
}

func TestProjectionLimitsNesting(t *testing.T) {
	for levels, want := range map[int]error{
		1000: nil,
		1001: &jsonscan.SyntaxError{Offset: 5000, Expected: "at most 1000 levels of nesting", Found: "1001"},
	} {
		fields, err := Project(strings.Repeat("a.", levels) + "a")
		require.NoError(t, err)
		s := textScanner([]byte(strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels)))
		s.object(&Scanned{keep: fields.keep})
		require.Equal(t, want, s.Err())
	}
}

func TestOtherValuesOnPathAreEmptied(t *testing.T) {
	fields, err := Project("a.b", "c.d")
	require.NoError(t, err)
	const event = `{"type":"ADDED","object":{"metadata":{"name":"n"},"a":"text","c":["x",{"d":1}]}}`
	client, err := NewClient(&scriptedTransport{answers: []answer{{body: event + event + "\n" + event}}}, Pods(""), fields, nil)
	require.NoError(t, err)
	seen := 0
	for event, err := range client.Watch(t.Context(), ListOptions{}) {
		require.NoError(t, err)
		if event.Type == Added {
			require.Equal(t, `{"metadata":{"name":"n"},"a":"","c":[]}`, event.Object.Raw())
			seen++
		}
	}
	require.Equal(t, 3, seen)
}
