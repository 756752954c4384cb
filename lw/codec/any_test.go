package codec

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// requireSameMap requires that this package and encoding/json decode text to the same map, or that both reject it.
func requireSameMap(t *testing.T, text []byte) {
	object, err := lw.ParseObject(text)
	if err != nil {
		return // requireAgreement compares the errors
	}
	var got, want map[string]any
	err = Into(object, &got)
	wantErr := decodeLikeKubernetes(text, &want)
	if wantErr != nil {
		require.Error(t, err)
		return
	}
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestMapsAgreeWithEncodingJSON(t *testing.T) {
	texts := append([]string{`{"a":1,"a":{"b":2}}`, " { \"a\" : [ 1 , { } , [ ] , \"b\\n\" ] ,\n\"c\" : { \"d\" : null } } "}, seeds...)
	for _, pod := range sample.Templated(1, 50, 50) {
		texts = append(texts, pod.JSON())
	}
	for _, text := range texts {
		requireSameMap(t, []byte(text))
	}
}

// FuzzMap compares this package with encoding/json for maps.
func FuzzMap(f *testing.F) {
	for _, value := range values {
		f.Add([]byte(`{"any":` + value + `}`))
		f.Add([]byte(` { "any" : [ ` + value + ` , ` + value + ` ] , "` + strings.Repeat("long", 20) + `" : ` + value + ` } `))
	}
	f.Fuzz(func(t *testing.T, text []byte) { requireSameMap(t, text) })
}

// A map that already contains members keeps them, as in encoding/json.
func TestMapKeepsOtherMembers(t *testing.T) {
	object, err := lw.ParseObject([]byte(`{"a":1,"b":{"c":2}}`))
	require.NoError(t, err)
	into := map[string]any{"b": map[string]any{"x": 1}, "y": 1}
	require.NoError(t, Into(object, &into))
	require.Equal(t, map[string]any{"a": int64(1), "b": map[string]any{"c": int64(2)}, "y": 1}, into)
}

// Decoded maps share no memory that a caller can modify, even if several goroutines decode at the same time.
func TestMapsAreIndependent(t *testing.T) {
	object, err := lw.ParseObject([]byte(sample.Pods(7, 1)[0].JSON()))
	require.NoError(t, err)
	var decoding sync.WaitGroup
	for range 4 {
		decoding.Go(func() {
			for range 100 {
				var pod map[string]any
				if Into(object, &pod) != nil || pod["spec"].(map[string]any)["nodeName"] != object.Get("spec.nodeName").String() {
					panic("a decoded map was modified")
				}
				pod["spec"].(map[string]any)["nodeName"] = "changed"
			}
		})
	}
	decoding.Wait()
}

// An idle anyReader keeps only short strings in memory.
func TestAnyReaderKeepsOnlyShortStrings(t *testing.T) {
	r := &anyReader{text: `{"a":["b",{"c":["` + strings.Repeat("x", maxKnown+1) + `"]}]}`}
	r.value()
	for _, m := range r.members[:cap(r.members)] {
		require.Zero(t, m)
	}
	for _, element := range r.elements[:cap(r.elements)] {
		require.Nil(t, element)
	}
	for _, known := range r.known {
		text, _ := known.(string)
		require.LessOrEqual(t, len(text), maxKnown)
	}
}

// BenchmarkMap decodes a Pod into a map, once with this package and once with encoding/json for comparison.
func BenchmarkMap(b *testing.B) {
	text := []byte(sample.Pods(7, 1)[0].JSON())
	object, err := lw.ParseObject(text)
	require.NoError(b, err)
	for name, decode := range map[string]func(into any) error{
		"codec":         func(into any) error { return Into(object, into) },
		"encoding/json": func(into any) error { return json.Unmarshal(text, into) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var into map[string]any
				require.NoError(b, decode(&into))
			}
		})
	}
}
