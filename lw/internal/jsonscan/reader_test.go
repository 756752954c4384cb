package jsonscan

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/stretchr/testify/require"
)

const testLimit = 64 << 20

// skipText returns nil if text is a single valid JSON value, and otherwise an error.
func skipText(text string) error {
	r := NewText([]byte(text), testLimit)
	r.Mark()
	r.SkipValue()
	r.End("the end of the text")
	return r.Err()
}

func frame(r *Reader) bool {
	if !r.Begin() {
		return false
	}
	r.SkipValue()
	return r.EndFrame()
}

func TestErrorsEncodeUnprintableBytes(t *testing.T) {
	for c, want := range map[byte]string{0: "byte 0x00", ' ': "byte 0x20", '!': "'!'", '~': "'~'", 0x7f: "byte 0x7f", 0xe9: "byte 0xe9"} {
		require.Equal(t, want, describe(c))
	}
}

func TestLimitsNesting(t *testing.T) {
	nested := func(levels int) string {
		return strings.Repeat(`[`, levels) + strings.Repeat(`]`, levels)
	}
	require.NoError(t, skipText(nested(maxDepth)))
	require.EqualError(t, skipText(nested(maxDepth+1)), "malformed response at byte 1000: expected at most 1000 levels of nesting, found 1001")
	require.ErrorContains(t, skipText(strings.Repeat(`{"a":`, maxDepth+1)), "at most 1000 levels of nesting")
	require.NoError(t, skipText(strings.Repeat("[ ", maxDepth)+strings.Repeat(" ]", maxDepth)))
	require.EqualError(t, skipText(strings.Repeat("[ ", maxDepth+1)), "malformed response at byte 2000: expected at most 1000 levels of nesting, found 1001")
	require.NoError(t, skipText("["+strings.Repeat(nested(100)+",", 20)+"1]"), "siblings must not count toward the nesting depth")
}

// The tested depths include the maximum number of open brackets that one call of skip can handle.
func TestBracketsMustMatch(t *testing.T) {
	for _, levels := range []int{1, 2, mostOpen - 1, mostOpen, mostOpen + 1, 63, 64, 65, 126, 127, 190, maxDepth} {
		for _, inner := range []string{`{}`, `[]`, `1`, ` { } `} {
			text, closing := []byte{}, []byte{}
			for level := range levels - 1 {
				if level%3 == 0 {
					text, closing = append(text, '['), append(closing, ']')
				} else {
					text, closing = append(text, `{"a":`...), append(closing, '}')
				}
			}
			slices.Reverse(closing)
			text = append(append(text, inner...), closing...)
			require.NoError(t, skipText(string(text)), "%s", text)
			for at := len(text) - len(closing); at < len(text); at++ {
				text[at] ^= '}' ^ ']'
				require.Error(t, skipText(string(text)), "%s", text)
				text[at] ^= '}' ^ ']'
			}
		}
	}
}

func TestStopsReadingAfterError(t *testing.T) {
	for _, text := range []string{`{"a":1 x`, `"a` + "\n", `["\x`, `{x`, `{"a"x`, `[1.x`, `tru `} {
		src := &counter{text: text}
		r := New(src, testLimit)
		require.True(t, r.Begin())
		r.SkipValue()
		require.Error(t, r.Err())
		reads := src.reads
		r.SkipValue()
		r.Next()
		require.False(t, r.Open('[', "an array") || r.More(']') || r.EndFrame() || r.Begin())
		require.Nil(t, r.Key())
		require.Zero(t, r.String("a string"))
		require.Equal(t, reads, src.reads, text)
	}
}

// counter is an io.Reader that returns a string and then endless white space. It counts the reads.
type counter struct {
	text  string
	reads int
}

func (c *counter) Read(p []byte) (int, error) {
	c.reads++
	if c.text == "" {
		c.text = " "
	}
	n := copy(p, c.text)
	c.text = c.text[n:]
	return n, nil
}

func TestRejectsFrameAboveLimit(t *testing.T) {
	text := `["` + strings.Repeat("x", 1000) + `"]`
	r := New(strings.NewReader(text+text), len(text))
	for range 2 {
		require.True(t, frame(r), "%v", r.Err())
	}
	for _, limit := range []int{100, idleBuffer, len(text) - 1} {
		r := New(strings.NewReader(" "+text), limit)
		require.False(t, frame(r))
		require.Equal(t, TooLarge(1, limit), r.Err())
	}
}

func TestBufferShrinksAfterLargeFrame(t *testing.T) {
	large := `["` + strings.Repeat("x", 4<<20) + `"]`
	small := strings.Repeat(sample.Pods(1, 1)[0].Event("ADDED"), 2000)
	r := New(strings.NewReader(large+small), testLimit)
	require.True(t, frame(r))
	require.Greater(t, len(r.data), 4<<20)
	for range 1500 {
		require.True(t, frame(r))
	}
	require.Len(t, r.data, 64<<10, "the buffer must keep its size while data arrives")
	for frame(r) {
	}
	require.Equal(t, io.EOF, r.Err())
	require.Len(t, r.data, 512)
}

func TestStreamsDoNotShareBuffers(t *testing.T) {
	stream := func(name string) func() {
		r := New(strings.NewReader(strings.Repeat(`["`+name+strings.Repeat("x", 100)+`"]`, 5000)), testLimit)
		return func() {
			require.True(t, frame(r), "%v", r.Err())
			require.Contains(t, string(r.Frame()), name)
		}
	}
	one, other := stream("one"), stream("other")
	for range 2000 { // these frames fill many buffers
		one()
	}
	for range 2000 {
		other()
		one()
	}
}

func TestDropsEndlessWhitespace(t *testing.T) {
	r := New(io.LimitReader(blanks{}, 8<<20), 1<<10)
	require.False(t, r.Begin())
	require.Equal(t, io.EOF, r.Err())
	require.LessOrEqual(t, len(r.data), 64<<10)
}

type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
