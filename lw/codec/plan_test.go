package codec

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// plannable has all kinds of fields that occur in Kubernetes types. Plans must decode them without json-iterator.
type plannable struct {
	Meta       `json:",inline"`
	Metadata   map[string]any         `json:"metadata,omitempty"`
	Bool       bool                   `json:"bool"`
	Int32      int32                  `json:"int"`
	Uint8      uint8                  `json:"uint8"`
	Float      float64                `json:"float64"`
	Float32    float32                `json:"float32"`
	Text       string                 `json:"string"`
	Enum       enumText               `json:"enum"`
	Pointer    *int64                 `json:"pointer"`
	TextPtr    *string                `json:"pointers"`
	Inner      plainInner             `json:"struct"`
	InnerPtr   *plainInner            `json:"structPtr"`
	Ints       []int                  `json:"slice"`
	Texts      [][]string             `json:"slices"`
	Inners     []plainInner           `json:"structs"`
	InnerPtrs  []*plainInner          `json:"structPtrs"`
	Bytes      []byte                 `json:"bytes"`
	Map        map[string]string      `json:"map"`
	MapBytes   map[string][]byte      `json:"mapBytes"`
	MapInner   map[string]plainInner  `json:"mapStruct"`
	MapPtr     map[string]*plainInner `json:"mapPtr"`
	MapInt     map[int]bool           `json:"mapInt"`
	MapNamed   map[enumText]enumText  `json:"mapNamed"`
	Any        any                    `json:"any"`
	Anys       []any                  `json:"anys"`
	MapAny     map[string]any         `json:"mapAny"`
	Raw        json.RawMessage        `json:"raw"`
	Number     json.Number            `json:"number"`
	Time       time.Time              `json:"time"`
	TimePtr    *time.Time             `json:"timePtr"`
	Array      [2]int                 `json:"array"`
	unexported int                    //lint:ignore U1000 decoders must ignore the field, although an object may have a member with its name
}

type Meta struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
}

type enumText string

type plainInner struct {
	A    int         `json:"a"`
	B    string      `json:"b"`
	Next *plainInner `json:"next"`
}

// requirePlan requires that this package and encoding/json decode text to the same struct, or that both reject it.
func requirePlan(t *testing.T, text []byte) {
	object, err := lw.ParseObject(text)
	if err != nil || excluded(object.Get("")) {
		return
	}
	got, want := &plannable{}, &plannable{}
	decoded := Into(object, got) == nil
	err = decodeLikeKubernetes(text, want)
	require.Equal(t, err == nil, decoded, err)
	if decoded {
		require.Equal(t, want, got)
	}
}

// upperByte is a byte with a method that encoding/json calls for each element, but not for a whole slice.
type upperByte byte

func (b *upperByte) UnmarshalText(text []byte) error {
	*b = upperByte(text[0] - 'a' + 'A')
	return nil
}

func TestBytesWithMethodsAreBase64(t *testing.T) {
	for _, text := range []string{`"AQID"`, `["a","b"]`, `null`} {
		object, err := lw.ParseObject([]byte(`{"metadata":{"name":"a"},"bytes":` + text + `}`))
		require.NoError(t, err)
		var got, want struct {
			Bytes []upperByte `json:"bytes"`
		}
		require.NoError(t, Into(object, &got))
		require.NoError(t, json.Unmarshal([]byte(object.Raw()), &want))
		require.Equal(t, want, got, text)
	}
}

func TestPlansAgreeWithEncodingJSON(t *testing.T) {
	requirePlan(t, []byte(`{"kind":"Thing","apiVersion":"v1","metadata":{"name":"a"},"bool":true,"int":-5,"uint8":7,"float64":1.5,`+
		`"float32":0.1,"string":"a\nb","enum":"e","pointer":9,"pointers":null,"struct":{"a":1,"next":{"b":"c","unknown":[{}]}},"structPtr":{},`+
		`"slice":[],"slices":[["a"],null,[]],"structs":[{"a":1},{}],"structPtrs":[null,{}],"bytes":"AQID","map":{"a":"b","":null},`+
		`"mapBytes":{"a":"AA=="},"mapStruct":{"a":{"a":3}},"mapPtr":{"a":null},"mapInt":{"5":true},"mapNamed":{"x":"y"},"any":[1,2.5,{}],`+
		`"anys":[null],"mapAny":{"a":1},"raw":{"a": 1},"number":7,"time":"2026-11-24T00:00:00Z","timePtr":null,"array":[1],"unexported":3,"-":1}`))
	for _, text := range seeds {
		requirePlan(t, []byte(text))
	}
}

func TestRepeatedMembersAreMerged(t *testing.T) {
	for text, want := range map[string]*plannable{
		`{"string":"a","map":{"a":"1"},"map":{"b":"2"}}`:       {Text: "a", Map: map[string]string{"a": "1", "b": "2"}},
		`{"slice":[1],"slice":null}`:                           {},
		`{"slice":[1,2],"slice":[3]}`:                          {Ints: []int{3}},
		`{"structs":[{"a":1,"b":"x"}],"structs":[{"a":2},{}]}`: {Inners: []plainInner{{A: 2, B: "x"}, {}}},
		`{"structPtr":{"a":1},"structPtr":{"b":"x"}}`:          {InnerPtr: &plainInner{A: 1, B: "x"}},
		`{"structPtr":{"a":1},"structPtr":null}`:               {},
		`{"mapAny":{"a":1},"mapAny":{"b":{}}}`:                 {MapAny: map[string]any{"a": int64(1), "b": map[string]any{}}},
		`{"bytes":"AQID","bytes":null}`:                        {},
		`{"bytes":[1,2]}`:                                      {Bytes: []byte{1, 2}},
	} {
		requirePlan(t, []byte(text))
		object, err := lw.ParseObject([]byte(text))
		require.NoError(t, err)
		got := &plannable{}
		require.NoError(t, Into(object, got))
		require.Equal(t, want, got)
	}
	object, err := lw.ParseObject([]byte(`{"string":"a","int":"b"}`))
	require.NoError(t, err)
	require.EqualError(t, Into(object, &plannable{}), "field int: expected int32, found a string")
}

// FuzzPlan compares plans with encoding/json.
func FuzzPlan(f *testing.F) {
	f.Add([]byte(seeds[0]))
	for _, value := range values {
		for _, name := range []string{"int", "string", "pointer", "struct", "slice", "mapPtr", "bytes", "time", "any"} {
			f.Add([]byte(` { "` + name + `" : ` + value + ` , "structs" : [ { "next" : ` + value + ` } ] } `))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) { requirePlan(t, text) })
}

// BenchmarkStruct decodes a Pod's spec into a struct, once with a plan and once with json-iterator.
func BenchmarkStruct(b *testing.B) {
	object, err := lw.ParseObject([]byte(sample.Pods(7, 1)[0].JSON()))
	require.NoError(b, err)
	text := object.Raw()
	b.Run("plan", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, Into(object, &podStruct{}))
		}
	})
	b.Run("json-iterator", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, plain.UnmarshalFromString(text, &podStruct{}))
		}
	})
}

type podStruct struct {
	Meta     `json:",inline"`
	Metadata struct {
		Name, Namespace string
		Labels          map[string]string `json:"labels"`
		Annotations     map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Volumes    []map[string]any `json:"volumes"`
		Containers []struct {
			Name, Image string
			Args        []string `json:"args"`
			Env         []struct {
				Name  string `json:"name"`
				Value string `json:"value"`
			} `json:"env"`
		} `json:"containers"`
		NodeName string `json:"nodeName"`
	} `json:"spec"`
}
