package codec

import (
	"encoding/json"
	"io"
	"runtime"
	"testing"

	jsoniter "github.com/json-iterator/go"
	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Each test in this file shows a defect of json-iterator 1.1.12 and then checks that this package does not have the
// defect. If the first half of a test fails, a newer json-iterator has fixed the defect.

// plain is json-iterator without the extension of this package.
var plain = jsoniter.ConfigCompatibleWithStandardLibrary

// decodeEvent decodes a watch event and returns its object. members is the JSON of the object's members after metadata.
func decodeEvent(t *testing.T, members string) (*thing, error) {
	return watch(t, JSON[*thing](nil), `{"metadata":{"name":"a"},`+members+"}")
}

// requireMalformed requires that the scanner rejects the JSON before the codec sees it.
func requireMalformed(t *testing.T, members string) error {
	t.Helper()
	_, err := decodeEvent(t, members)
	require.ErrorIs(t, err, lw.ErrInvalidResponse)
	return err
}

func TestDefectEmptyKeyEndsObject(t *testing.T) {
	iter := jsoniter.ParseString(plain, `{"":1,"int":2}`)
	require.Empty(t, iter.ReadObject(), "json-iterator must still confuse an empty name with the end of the object")

	object, err := decodeEvent(t, `"":{"":1},"int":2,"map":{"":"x","y":"z"},"any":{"":1,"b":2}`)
	require.NoError(t, err)
	require.Equal(t, 2, object.Int)
	require.Equal(t, map[string]string{"": "x", "y": "z"}, object.Map)
	require.Equal(t, map[string]any{"": int64(1), "b": int64(2)}, object.Any)
}

func TestDefectTrailingGarbage(t *testing.T) {
	require.True(t, plain.Valid([]byte(`{} garbage`)))

	_, err := lw.ParseObject([]byte(`{} garbage`))
	require.Error(t, err)
	requireMalformed(t, `"int":1 garbage`)
}

func TestDefectLeadingZeros(t *testing.T) {
	var into struct{ A int }
	require.NoError(t, plain.Unmarshal([]byte(`{"A":1,"unknown":-01}`), &into))

	requireMalformed(t, `"unknown":-01`)
	requireMalformed(t, `"int":-01`)
}

func TestDefectHugeNumbers(t *testing.T) {
	var into struct{ A, B string }
	require.Error(t, plain.Unmarshal([]byte(`{"A":"x","unknown":0.1e99,"B":"\n"}`), &into), "json-iterator must still reject this valid JSON")
	require.Error(t, plain.Unmarshal([]byte(`{"A":"x","unknown":1e999,"B":"\n"}`), &into), "json-iterator must still reject this valid JSON")

	object, err := decodeEvent(t, `"int":1,"unknown":0.1e99,"string":"\n","other":1e999`)
	require.NoError(t, err)
	require.Equal(t, "\n", object.String)
	for _, number := range []string{"1e300", "-1.7976931348623157e308", "5e-324", "123456789012345678901234567890"} {
		object, err := decodeEvent(t, `"unknown":`+number+`,"raw":`+number+`,"number":`+number+`,"float64":`+number+`,"string":"\n"`)
		require.NoError(t, err, number)
		require.Equal(t, json.RawMessage(number), object.Raw)
		require.Equal(t, json.Number(number), object.Number)
	}
}

func TestDefectControlCharacters(t *testing.T) {
	var into struct {
		A int `json:"a\tb"`
	}
	require.NoError(t, plain.Unmarshal([]byte("{\"unknown\x01\":1}"), &into))

	requireMalformed(t, "\"unknown\x01\":1")
	requireMalformed(t, "\"unknown\":\"\x01\"")
}

func TestDefectTruncation(t *testing.T) {
	var into thing
	err := plain.Unmarshal([]byte(`{"int":`), &into)
	require.Error(t, err)
	require.NotErrorIs(t, err, io.ErrUnexpectedEOF)

	client, err := lw.NewClient(body(`{"type":"ADDED","object":{"metadata":{"name":"a"},"int":`), lw.Pods(""), JSON[*thing](nil), nil)
	require.NoError(t, err)
	for _, err = range client.Watch(t.Context(), lw.ListOptions{}) {
	}
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestDefectCaseInsensitiveNames(t *testing.T) {
	var into thing
	require.NoError(t, plain.Unmarshal([]byte(`{"int":1,"INT":2}`), &into))
	require.Equal(t, 2, into.Int)

	object, err := decodeEvent(t, `"int":1,"INT":2,"Struct":{"A":3}`)
	require.NoError(t, err)
	require.Equal(t, 1, object.Int)
	require.Zero(t, object.Struct)
}

func TestDefectIntegersInAny(t *testing.T) {
	var into any
	require.NoError(t, plain.Unmarshal([]byte(`9007199254740993`), &into))
	require.Equal(t, float64(9007199254740992), into)

	object, err := decodeEvent(t, `"any":9007199254740993`)
	require.NoError(t, err)
	require.Equal(t, int64(9007199254740993), object.Any)
}

func TestDefectOverflow(t *testing.T) {
	var small struct{ A int32 }
	require.NoError(t, plain.Unmarshal([]byte(`{"A":9999999999}`), &small))
	require.EqualValues(t, 1410065407, small.A)
	var large struct{ A int64 }
	require.NoError(t, plain.Unmarshal([]byte(`{"A":25000000000000000000}`), &large))
	require.Equal(t, int64(6553255926290448384), large.A)

	_, err := decodeEvent(t, `"int32":9999999999`)
	require.ErrorContains(t, err, "field int32: expected int32, found a number that does not fit")
	_, err = decodeEvent(t, `"int64":25000000000000000000`)
	require.ErrorContains(t, err, "field int64: expected int64, found a number that does not fit")
}

func TestDefectInvalidUnicode(t *testing.T) {
	const surrogates, bytes = `"\ud800\ud83d\ude00"`, "\"\xff\xfe\""
	var into string
	require.NoError(t, plain.Unmarshal([]byte(surrogates), &into))
	require.Equal(t, "\ufffd\ufffd\ufffd", into)
	require.NoError(t, plain.Unmarshal([]byte(bytes), &into))
	require.Equal(t, "\xff\xfe", into)

	for text, want := range map[string]string{surrogates: "\ufffd\U0001f600", bytes: "\ufffd\ufffd"} {
		object, err := decodeEvent(t, `"string":`+text+`,"any":`+text+`,"map":{`+text+`:`+text+`}`)
		require.NoError(t, err)
		require.Equal(t, want, object.String)
		require.Equal(t, want, object.Any)
		require.Equal(t, map[string]string{want: want}, object.Map)
	}
}

// The names vcASljBJAqn and DJ5oGuM9U8d have the same hash. A search found this pair in two minutes, after seven
// billion attempts.
func TestDefectHashCollision(t *testing.T) {
	type hashed struct {
		Field int `json:"vcASljBJAqn"`
	}
	const other = `{"DJ5oGuM9U8d":1}`
	var into hashed
	require.NoError(t, jsoniter.Config{CaseSensitive: true}.Froze().Unmarshal([]byte(other), &into))
	require.Equal(t, 1, into.Field)

	object, err := lw.ParseObject([]byte(other))
	require.NoError(t, err)
	var read hashed
	require.NoError(t, Into(object, &read))
	require.Zero(t, read.Field)
	var unusual struct{ *Hashed }
	require.NoError(t, Into(object, &unusual))
	require.Nil(t, unusual.Hashed)
}

// Hashed is embedded as a pointer, because only then does this package let json-iterator find the field.
type Hashed struct {
	Field int `json:"vcASljBJAqn"`
}

func TestDefectErrorsQuoteValues(t *testing.T) {
	var into thing
	require.ErrorContains(t, plain.Unmarshal([]byte(`{"int":"s3cret"}`), &into), "s3cret")

	_, err := decodeEvent(t, `"int":"s3cret"`)
	require.NotContains(t, err.Error(), "s3cret")
}

func TestDefectNull(t *testing.T) {
	var raw struct{ A json.RawMessage }
	require.NoError(t, plain.Unmarshal([]byte(`{"A":null}`), &raw))
	require.Nil(t, raw.A)
	var text struct{ A shout }
	text.A.text = "before"
	require.NoError(t, plain.Unmarshal([]byte(`{"A":null}`), &text))
	require.Empty(t, text.A.text, "json-iterator must still call UnmarshalText for null")

	object, err := decodeEvent(t, `"raw":null,"text":null,"number":null,"int":null`)
	require.NoError(t, err)
	require.Equal(t, json.RawMessage("null"), object.Raw)
}

func TestDefectLenientScalars(t *testing.T) {
	var into struct {
		Number json.Number
		Quoted int `json:",string"`
		Map    map[float64]int
	}
	for _, text := range []string{`{"Number":"x"}`, `{"Quoted":" 5"}`, `{"Map":{" 1.5":1}}`} {
		require.NoError(t, plain.Unmarshal([]byte(text), &into))
		require.Error(t, json.Unmarshal([]byte(text), &into))
	}

	for _, members := range []string{`"number":"x"`, `"quoted":" 5"`, `"mapInt":{" 1":true}`} {
		_, err := decodeEvent(t, members)
		require.IsType(t, &lw.DecodeError{}, err, members)
	}
}

// noInts is a named array type, to show that the decoder also finds the length of such a type.
type noInts [0]int

type embeddedNoInts struct {
	Embedded noInts
	After    int
}

// Without the array decoder, an element that does not fit into the array overwrites the memory after the array.
func TestDefectArraysOverflow(t *testing.T) {
	var into struct {
		F [0]int
		N int
	}
	require.NoError(t, plain.Unmarshal([]byte(`{"F":[2139062143]}`), &into))
	require.Equal(t, 2139062143, into.N)

	type arrays struct {
		embeddedNoInts
		F       [0]int     `json:"f"`
		AfterF  *int       `json:"afterF"`
		Named   noInts     `json:"named"`
		AfterN  *int       `json:"afterN"`
		Nested  [2][0]int  `json:"nested"`
		AfterM  *int       `json:"afterM"`
		Inverse [0][2]*int `json:"inverse"`
		AfterI  *int       `json:"afterI"`
		Structs [1]struct {
			F [0]string
			P *int
		} `json:"structs"`
		AfterS  *int              `json:"afterS"`
		Slice   []noInts          `json:"slice"`
		Map     map[string]noInts `json:"map"`
		Pointer *noInts           `json:"pointer"`
		Two     [2]int            `json:"two"`
		AfterT  *int              `json:"afterT"`
		Any     [1]any            `json:"any"`
		Next    [1]*arrays        `json:"next"`
		Empty   struct{}          `json:"empty"`
		Last    [0]*int           `json:"last"`
	}
	const text = `{"Embedded":[7,8],"f":[2139062143],"named":[1],"nested":[[1,2],[3],[4]],"inverse":[[1,2]],` +
		`"structs":[{"F":["x"]},{"F":["y"]}],"slice":[[1],[2,3]],"map":{"a":[1],"b":[]},"pointer":[{"a":[1]}],"two":[1,2,3,4],` +
		`"any":[[9007199254740993],1],"next":[{"f":[7],"two":[5]}],"empty":{},"last":["x",null]}`
	var got, want arrays
	got.Two, want.Two = [2]int{8, 9}, [2]int{8, 9}
	object, err := lw.ParseObject([]byte(text))
	require.NoError(t, err)
	require.NoError(t, Into(object, &got))
	require.NoError(t, decodeLikeKubernetes([]byte(text), &want))
	require.Equal(t, want, got)
	runtime.GC() // the garbage collector crashes if a pointer was overwritten

	for text, message := range map[string]string{
		`{"f":"s3cret"}`:         "field f: expected [0]int, found a string",
		`{"f":{}}`:               "field f: expected [0]int, found an object",
		`{"two":[1,"s3cret"]}`:   "field two[1]: expected int, found a string",
		`{"nested":[[],true]}`:   "field nested[1]: expected [0]int, found a boolean",
		`{"next":[{"two":1.5}]}`: "field next[0].two: expected [2]int, found a number",
	} {
		object, err := lw.ParseObject([]byte(text))
		require.NoError(t, err)
		require.EqualError(t, Into(object, new(arrays)), message)
	}

	shorter, err := lw.ParseObject([]byte(`{"two":[3],"any":[],"f":null}`))
	require.NoError(t, err)
	require.NoError(t, Into(shorter, &got))
	require.Equal(t, [2]int{3, 0}, got.Two, "missing elements must become zero, as in encoding/json")
	require.Equal(t, [1]any{}, got.Any)
	null, err := lw.ParseObject([]byte(`{"two":null}`))
	require.NoError(t, err)
	require.NoError(t, Into(null, &got))
	require.Equal(t, [2]int{3, 0}, got.Two, "null must not change an array, as in encoding/json")
}

// strict requires valid JSON, as many UnmarshalJSON and UnmarshalText methods do.
type strict struct{ calls []string }

func (s *strict) UnmarshalJSON(text []byte) error {
	if !json.Valid(text) {
		panic("UnmarshalJSON was called with " + string(text))
	}
	s.calls = append(s.calls, string(text))
	return nil
}

func TestDefectDecodingContinuesAfterError(t *testing.T) {
	var into struct {
		Text   shout
		Custom *strict
	}
	require.Panics(t, func() { _ = plain.Unmarshal([]byte(`{"Text":"quiet","Custom":0}`), &into) })

	type object struct {
		Int     int                `json:"int"`
		Text    *shout             `json:"text"`
		Custom  *strict            `json:"custom"`
		Customs []map[shout]strict `json:"customs"`
		Value   strict             `json:"value"`
	}
	for text, message := range map[string]string{
		`{"int":"x","custom":0}`:                            "field int: expected int, found a string",
		`{"text":"quiet","custom":0}`:                       "field text: expected codec.shout, found a string",
		`{"int":true,"value":7}`:                            "field int: expected int, found a boolean",
		`{"int":[],"customs":[{"a":0}]}`:                    "field int: expected int, found an array",
		`{"customs":[{"quiet":0,"b":1},{}],"custom":0}`:     "field customs[0]: expected map[codec.shout]codec.strict, found an object with an invalid key",
		`{"int":null,"custom":null,"value":null,"int":1.5}`: "field int: expected int, found a number that does not fit",
	} {
		o, err := lw.ParseObject([]byte(text))
		require.NoError(t, err)
		err = Into(o, new(object))
		require.ErrorContains(t, err, message, text)
	}
	o, err := lw.ParseObject([]byte(`{"value": {"a":[1, 2]} ,"custom": null,"customs":[{"a": 0.5}]}`))
	require.NoError(t, err)
	var got object
	require.NoError(t, Into(o, &got))
	require.Equal(t, object{Value: strict{[]string{`{"a":[1, 2]}`}}, Customs: []map[shout]strict{{shout{"A"}: strict{[]string{"0.5"}}}}}, got)

	o, err = lw.ParseObject([]byte(`{"value":1e309}`))
	require.NoError(t, err)
	got = object{}
	require.NoError(t, Into(o, &got))
	require.Equal(t, []string{"1e309"}, got.Value.calls, "a method may accept a number that overflows float64, as in encoding/json")
}
