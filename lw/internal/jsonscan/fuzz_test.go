package jsonscan

import (
	"errors"
	"io"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/stretchr/testify/require"
)

// chunks is an io.Reader that returns text in chunks. The size of each chunk is one more than the corresponding byte of
// cuts. After the last byte, the sizes repeat.
type chunks struct {
	text, cuts string
	reads      int
}

func (c *chunks) Read(p []byte) (int, error) {
	if c.text == "" {
		return 0, io.EOF
	}
	size := len(c.text)
	if c.cuts != "" {
		size = min(size, int(c.cuts[c.reads%len(c.cuts)])+1)
	}
	c.reads++
	n := copy(p, c.text[:size])
	c.text = c.text[n:]
	return n, nil
}

// walker collects the tokens that a Reader returns.
type walker struct {
	*Reader
	depth    int
	skipFrom int
	tokens   []string
}

func (w *walker) value() {
	c := w.Next()
	start := w.Pos()
	switch inner := w.depth < w.skipFrom; {
	case inner && (c == '{' || c == '['):
		w.bracket(c)
	case inner && c == '"':
		w.string("a string")
	default:
		w.SkipValue()
		w.text(start)
	}
}

func (w *walker) bracket(opening byte) {
	more := w.Open(opening, "a bracket")
	if w.Err() != nil {
		return
	}
	w.tokens = append(w.tokens, string(rune(opening)))
	for w.depth++; more; more = w.More(opening + 2) {
		if opening == '{' {
			if name := w.Key(); w.Err() == nil {
				w.tokens = append(w.tokens, valid(name))
			}
		}
		w.value()
	}
	if w.depth--; w.Err() == nil {
		w.tokens = append(w.tokens, string(rune(opening+2)))
	}
}

func (w *walker) string(expected string) {
	if at := w.String(expected); w.Err() == nil {
		w.tokens = append(w.tokens, valid(w.Content(at)))
	}
}

func (w *walker) text(start int) {
	if w.Err() == nil {
		w.tokens = append(w.tokens, string(w.Part(start, w.Pos())))
	}
}

// valid returns text with each byte of invalid UTF-8 replaced by U+FFFD, as in encoding/json.
func valid(text []byte) string { return string([]rune(string(text))) }

// walk returns the frames, tokens and error that a Reader reads from a stream. The tests compare them with the results
// of readReference.
func walk(src io.Reader, skipFrom int) (frames, tokens []string, err error) {
	r := New(src, testLimit)
	defer r.Release()
	w := walker{Reader: r, skipFrom: skipFrom}
	for r.Begin() {
		if w.value(); r.EndFrame() {
			frames = append(frames, string(r.Frame()))
		}
	}
	return frames, w.tokens, r.Err()
}

// FuzzReference checks that the Reader and the reference implementation agree on frames, tokens and the offset of the
// first error. It splits the text at arbitrary positions.
func FuzzReference(f *testing.F) {
	for _, text := range []string{
		`{"a":[1,-2.5e+3,true,false,null,{}],"b\u00e9\n":"\ud83d\ude42"} [] "x"1 2`, `{"a" : [ 1 , "b" ] , "c" : { } }`,
		`{"aaaaaaaaaaaaaaaa":"bbbbbbbbbbbbbbbb","\\":"\""}`, "[\x10]", `["` + "\x00", `[1 ]]`, `{"a":1]`, `[1}`, `{"a"1}`, `{"a":tru}`, "[[[[1e]]]]",
		`{"a\`, `["\u12`, "\"\xff\x80\"", `{"":{"":[{},[],{"a":[]}]}}`,
	} {
		f.Add(text, "", byte(0))
		f.Add(text, "\x00", byte(1))
		f.Add(text, "\x02\x10\x07", byte(9))
	}
	f.Fuzz(func(t *testing.T, text, cuts string, skipFrom byte) {
		wantFrames, wantTokens, offset := readReference(text, int(skipFrom))
		for _, src := range []io.Reader{&chunks{text: text}, &chunks{text: text, cuts: cuts}} {
			frames, tokens, err := walk(src, int(skipFrom))
			require.Equal(t, wantFrames, frames)
			if err == io.EOF {
				require.Equal(t, -1, offset)
				require.Equal(t, wantTokens, tokens)
				continue
			}
			syntax, ok := errors.AsType[*SyntaxError](err)
			require.True(t, ok, "%v", err)
			require.EqualValues(t, offset, syntax.Offset, "%v", err)
			require.Equal(t, offset == len(text), syntax.Err == io.ErrUnexpectedEOF, "%v", err)
			require.Equal(t, tokens, wantTokens[:min(len(tokens), len(wantTokens))])
		}
		for _, frame := range wantFrames {
			require.Equal(t, len(frame), ValueEnd(frame, 0))
			require.Equal(t, len(frame), ValueEnd(frame+"  ", 0))
		}
	})
}

// The Pods are so long that the buffer has to move its data. They are too long for seeds of FuzzReference.
func TestPodsAgreeWithReference(t *testing.T) {
	text := ""
	for _, pod := range sample.Pods(3, 20) {
		text += pod.Event("ADDED")
	}
	for _, skipFrom := range []int{0, 1, 3, 9, 99} {
		wantFrames, wantTokens, offset := readReference(text, skipFrom)
		require.Equal(t, -1, offset)
		for _, cuts := range []string{"", "\xff", "\x00", "\x03\x50\x07"} {
			frames, tokens, err := walk(&chunks{text: text, cuts: cuts}, skipFrom)
			require.Equal(t, io.EOF, err)
			require.Equal(t, wantFrames, frames)
			require.Equal(t, wantTokens, tokens)
		}
	}
}
