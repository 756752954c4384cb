package lw

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// readEvents reads all events of a stream. It returns each event as a string that consists of the event's type and
// JSON.
func readEvents(src io.Reader) (events []string, err error) {
	s := newScanner(src, 0, nil)
	var o Scanned
	for {
		eventType, ok := s.event(&o)
		if !ok {
			if s.Err() == io.EOF {
				return events, nil
			}
			return events, s.Err()
		}
		events = append(events, eventType.String()+" "+newObject(&o, nil).Raw())
	}
}

const twoEvents = `{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"ä€🙂","uid":"u","resourceVersion":"1"}}}` + "\n" +
	`{"object":{"metadata":{"name":"b\"\\\u00e9","resourceVersion":"2"},"n":[1,-2.5e+3,true,false,null,{}]},"type":"MODIFIED"}` + "\n"

func indented(t *testing.T, text string) string {
	var out strings.Builder
	decoder := json.NewDecoder(strings.NewReader(text))
	for decoder.More() {
		var raw json.RawMessage
		require.NoError(t, decoder.Decode(&raw))
		pretty, err := json.MarshalIndent(raw, "", "  ")
		require.NoError(t, err)
		out.Write(pretty)
		out.WriteString("\r\n")
	}
	return out.String()
}

// TestStreamsSplitAtEveryByte reads each stream in two chunks, split at every byte. It also reads each stream byte by
// byte.
func TestStreamsSplitAtEveryByte(t *testing.T) {
	streams := map[string]string{
		"one event per line": twoEvents,
		"no newlines":        strings.ReplaceAll(twoEvents, "\n", ""),
		"blank lines":        "\n\r\n" + strings.ReplaceAll(twoEvents, "\n", "\n\n\t\n"),
		"indented":           indented(t, twoEvents),
		"no final newline":   strings.TrimSuffix(twoEvents, "\n"),
	}
	for name, stream := range streams {
		t.Run(name, func(t *testing.T) {
			whole, err := readEvents(strings.NewReader(stream))
			require.NoError(t, err)
			require.Len(t, whole, 2)
			require.True(t, strings.HasPrefix(whole[0], "ADDED {") && strings.HasPrefix(whole[1], "MODIFIED {"), "%q", whole)
			if name != "indented" {
				require.Equal(t, `ADDED {"kind":"Pod","metadata":{"name":"ä€🙂","uid":"u","resourceVersion":"1"}}`, whole[0])
			}
			for cut := range len(stream) {
				halves, err := readEvents(io.MultiReader(strings.NewReader(stream[:cut]), strings.NewReader(stream[cut:])))
				require.NoError(t, err, "the stream is split at byte %d", cut)
				require.Equal(t, whole, halves, "the stream is split at byte %d", cut)
			}
			single, err := readEvents(iotest.OneByteReader(strings.NewReader(stream)))
			require.NoError(t, err)
			require.Equal(t, whole, single)
		})
	}
}

func TestStreamsTruncatedAtEveryByte(t *testing.T) {
	first := strings.IndexByte(twoEvents, '\n')
	for cut := 1; cut < len(twoEvents)-1; cut++ {
		events, err := readEvents(strings.NewReader(twoEvents[:cut]))
		if cut == first || cut == first+1 {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "the stream is truncated at byte %d", cut)
		malformed, ok := errors.AsType[*jsonscan.SyntaxError](err)
		require.True(t, ok)
		require.EqualValues(t, cut, malformed.Offset)
		if cut > first {
			require.Len(t, events, 1)
		}
	}
}

func TestTransportErrorIsReturned(t *testing.T) {
	reset := errors.New("connection reset")
	for _, text := range []string{"", twoEvents, twoEvents[:50]} {
		_, err := readEvents(io.MultiReader(strings.NewReader(text), iotest.ErrReader(reset)))
		require.Equal(t, reset, err)
	}
}

func TestEscapeSequencesInEnvelope(t *testing.T) {
	const escaped = `{"t\u0079pe":"\u0042OOKMARK","obj\u0065ct":{"met\u0061data":{"\u0061nnotations":{"k8s.io\/initial-events-end":"tr\u0075e"}}}}`
	s := newScanner(strings.NewReader(escaped), 0, nil)
	var scanned Scanned
	eventType, ok := s.event(&scanned)
	require.True(t, ok, "%v", s.Err())
	require.Equal(t, Bookmark, eventType)
	require.True(t, scanned.initialEventsEnd)
}

// The test covers JSON, valid and invalid, that API servers never send but a hostile server might.
func TestUnusualJSON(t *testing.T) {
	huge := strings.Repeat("9", 100_000)
	object, err := ParseObject([]byte("{\"metadata\":{\"name\":\"a\xffb\",\"uid\":\"\\ud800x\",\"name\":null,\"Name\":\"c\"},\"metadata\":{\"namespace\":\"n\"}," +
		`"n":` + huge + `,"e":1e99999,"x":{"a":1},"x":{"b":"` + "\xff" + `\udc00"}}`))
	require.NoError(t, err)
	require.Equal(t, []string{"a\xffb", "\ufffdx", "n"}, []string{object.GetName(), object.GetUID(), object.GetNamespace()})
	require.Equal(t, "\ufffd\ufffd", object.Get("x.b").String())
	require.False(t, object.Get("x.a").Exists(), "the last of several duplicate members must be used")
	require.Equal(t, huge, object.Get("n").String())
	require.Zero(t, object.Get("n").Int())
	require.Equal(t, "1e99999", object.Get("e").String())
	require.Contains(t, object.Raw(), "a\xffb", "the JSON must be unchanged")
	for _, text := range []string{"\ufeff{}", `{"a":1,}`, `{"a":+1}`, `{"a":.5}`, `{"a":NaN}`, `{"a":0x1}`, `{} {}`, "{\"a\":\"\t\"}", "{/**/}"} {
		_, err := ParseObject([]byte(text))
		require.Error(t, err, text)
	}
}

// idler is an io.Reader that returns neither data nor an error.
type idler struct{}

func (idler) Read([]byte) (int, error) { return 0, nil }

func TestReaderWithoutProgress(t *testing.T) {
	for _, text := range []string{"", twoEvents, twoEvents[:50]} {
		_, err := readEvents(io.MultiReader(strings.NewReader(text), idler{}))
		require.Equal(t, io.ErrNoProgress, err)
	}
}

func TestMalformedEvents(t *testing.T) {
	const head = `{"type":"ADDED","object":`
	cases := []struct {
		name, text string
		offset     int64
		expected   string
	}{
		{"HTML with status 200", "<!DOCTYPE html><html>", 0, "a watch event"},
		{"plain text", "hello", 0, "a watch event"},
		{"array", "[]", 0, "a watch event"},
		{"NUL byte", "\x00", 0, "a watch event"},
		{"garbage between events", `{"type":"BOOKMARK","object":{}}x`, 31, "a watch event"},
		{"no object", `{"type":"ADDED"}`, 15, `an "object" in the event`},
		{"object is null", head + `null}`, 25, "an object"},
		{"object is a string", head + `"x"}`, 25, "an object"},
		{"type is a number", `{"type":1,"object":{}}`, 8, "the event's type"},
		{"unknown type", `{"type":"PATCHED","object":{}}`, 9, "an event of type ADDED, MODIFIED, DELETED, BOOKMARK or ERROR"},
		{"no type", `{"object":{}}`, 0, "an event of type ADDED, MODIFIED, DELETED, BOOKMARK or ERROR"},
		{"empty event", `{}`, 1, `an "object" in the event`},
		{"no name", head + `{"metadata":{}}}`, 25, "an object with metadata.name"},
		{"no name in a MODIFIED event", `{"type":"MODIFIED","object":{"metadata":{}}}`, 28, "an object with metadata.name"},
		{"no name in a DELETED event", `{"type":"DELETED","object":{"metadata":{}}}`, 27, "an object with metadata.name"},
		{"metadata is a string", head + `{"metadata":"x"}}`, 37, "metadata to be an object"},
		{"name is a number", head + `{"metadata":{"name":1}}}`, 45, "metadata.name to be a string"},
		{"namespace is an object", head + `{"metadata":{"namespace":{}}}}`, 50, "metadata.namespace to be a string"},
		{"uid is a boolean", head + `{"metadata":{"uid":true}}}`, 44, "metadata.uid to be a string"},
		{"resourceVersion is a number", head + `{"metadata":{"resourceVersion":12}}}`, 56, "metadata.resourceVersion to be a string"},
		{"kind is an array", head + `{"kind":[]}}`, 33, "kind to be a string"},
		{"annotations are an array", head + `{"metadata":{"annotations":[]}}}`, 52, "metadata.annotations to be an object"},
		{"newline in a string", head + "{\"a\":\"b\nc\"}}", 32, "a control character in a string to be escaped"},
		{"unknown escape sequence", head + `{"a":"\x"}}`, 32, `one of "\/bfnrtu after a backslash`},
		{"short \\u escape sequence", head + `{"a":"\u12g4"}}`, 35, "four hexadecimal digits after \\u"},
		{"missing comma", head + `{"a":1 "b":2}}`, 32, "',' or '}'"},
		{"missing colon", head + `{"a" 1}}`, 30, "':' after a member name"},
		{"trailing comma in an object", head + `{"a":{"b":1,}}}`, 37, "a member name"},
		{"trailing comma in an array", head + `{"a":[1,]}}`, 33, "a value"},
		{"mismatched bracket", head + `{"a":[1}}}`, 32, "',' or ']'"},
		{"mismatched bracket after a string", head + `{"a":["b"}}}`, 34, "',' or ']'"},
		{"missing colon after a name that ends with a colon", head + `{"a:"1}}`, 30, "':' after a member name"},
		{"unknown escape sequence in a name", head + `{"a\:1}}`, 29, `one of "\/bfnrtu after a backslash`},
		{"leading zero", head + `{"a":01}}`, 31, "',' or '}'"},
		{"minus sign without digits", head + `{"a":-}}`, 31, "a digit"},
		{"no digit after the decimal point", head + `{"a":1.}}`, 32, "a digit after the decimal point"},
		{"no digit in the exponent", head + `{"a":1e+}}`, 33, "a digit in the exponent"},
		{"misspelled literal", head + `{"a":trux}}`, 33, "true"},
		{"single quotes", head + `{'a':1}}`, 26, "a member name"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := readEvents(strings.NewReader(c.text))
			malformed, ok := errors.AsType[*jsonscan.SyntaxError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, c.expected, malformed.Expected)
			require.Equal(t, c.offset, malformed.Offset, "%v", err)
			_, again := readEvents(iotest.OneByteReader(strings.NewReader(c.text)))
			require.Equal(t, err, again, "reading byte by byte must return the same error")
		})
	}
}

func TestFrameLimit(t *testing.T) {
	event := sample.Pods(1, 1)[0].Event("ADDED")
	stream := event + event
	for _, limit := range []int{100, 512, 4 << 10, len(event) - 2} {
		s := newScanner(strings.NewReader(stream), limit, nil)
		_, ok := s.event(&Scanned{})
		require.False(t, ok)
		require.Equal(t, jsonscan.TooLarge(0, limit), s.Err())
	}
	s := newScanner(strings.NewReader(stream), len(event)-1, nil) // the limit does not count the newline, which is not part of the frame
	for range 2 {
		_, ok := s.event(&Scanned{})
		require.True(t, ok, "%v", s.Err())
	}
	require.Equal(t, maxFrameLimit, frameLimit(math.MaxInt), "the frame limit must fit into the 32-bit positions of an Object")
	require.Equal(t, 64<<20, frameLimit(0))
}

// FuzzValue checks that the scanner and encoding/json decode the same values. It excludes deeply nested values.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5e-7,"\u00e9\n",true,false,null]}`, `"\ud83d\ude42 \udead"`, ` -0 `, `[[[]]]`, "\"\xff\"", `1e5`, `{"":0}`, `tru`,
		"", " ", "[", "[1,", "[1,\x00]", "1\x00", `{"a":`, `{y`, `[Y`, `1:`, `"\u00:0"`, `"\ud83d\ude42"`, "\"\x80\"", "\"\x80\\n\""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		value, err := ParseValue(text)
		if err != nil && strings.Contains(err.Error(), "levels of nesting") {
			return
		}
		require.Equal(t, json.Valid(text), err == nil, "%v", err)
		if err != nil {
			_, malformed := errors.AsType[*jsonscan.SyntaxError](err)
			require.True(t, malformed, "%v", err)
			return
		}
		require.Equal(t, decodeAny(t, string(text)), tree(t, value))
	})
}

// tree decodes a Value into the types that encoding/json uses for a variable of type any.
func tree(t *testing.T, v Value) any {
	switch v.raw[0] {
	case '{':
		members := map[string]any{}
		for name, member := range v.Members() {
			members[name] = tree(t, member)
		}
		return members
	case '[':
		elements := []any{}
		for element := range v.Elements() {
			elements = append(elements, tree(t, element))
		}
		return elements
	case '"':
		return v.String()
	}
	return decodeAny(t, v.raw)
}

// decodeAny decodes text with encoding/json. It keeps numbers as strings.
func decodeAny(t *testing.T, text string) (value any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&value))
	return value
}
