package output

import (
	"bufio"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMarks(t *testing.T) {
	bookmark := &Mark{Time: noon, Resource: "pods", ResourceVersion: "7"}
	frame := &Mark{Time: noon, Resource: "pods", Frame: []byte("{\n  \"type\": \"ADDED\", \"object\": {\"n\":9007199254740993}}\n")}
	garbage := &Mark{Time: noon, Resource: "pods", Frame: []byte("<html>\n")}
	for format, want := range map[string]string{
		"jsonl": `{"type":"BOOKMARK","time":"2026-11-21T12:00:00.123456789Z","resource":"pods","resourceVersion":"7"}` + "\n" +
			`{"type":"FRAME","time":"2026-11-21T12:00:00.123456789Z","resource":"pods","frame":{"type":"ADDED","object":{"n":9007199254740993}}}` + "\n" +
			`{"type":"FRAME","time":"2026-11-21T12:00:00.123456789Z","resource":"pods","frame":"\u003chtml\u003e\n"}` + "\n",
		"wire": `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}` + "\n" +
			`{"type":"FRAME","frame":{"type":"ADDED","object":{"n":9007199254740993}}}` + "\n" +
			`{"type":"FRAME","frame":"\u003chtml\u003e\n"}` + "\n",
		"line": "12:00:00.123   BOOKMARK   pods is at resourceVersion 7\n" +
			`12:00:00.123   FRAME   pods {"type":"ADDED","object":{"n":9007199254740993}}` + "\n" +
			`12:00:00.123   FRAME   pods "\u003chtml\u003e\n"` + "\n",
	} {
		made, err := New(format, &Options{})
		require.NoError(t, err)
		var text strings.Builder
		out := bufio.NewWriter(&text)
		for _, m := range []*Mark{bookmark, frame, garbage} {
			made.(Marker).Mark(out, m)
		}
		require.NoError(t, out.Flush())
		require.Equal(t, want, text.String(), format)
	}
}

// TestMarksFollowEarlierRows checks rows that wait for column widths.
func TestMarksFollowEarlierRows(t *testing.T) {
	made, err := New("line", &Options{})
	require.NoError(t, err)
	var text strings.Builder
	out := bufio.NewWriter(&text)
	made.Print(out, added(t, "pods", web0))
	made.(Marker).Mark(out, &Mark{Time: noon, Resource: "pods", ResourceVersion: "7"})
	require.NoError(t, out.Flush())
	require.Regexp(t, `ADDED.*\n.*BOOKMARK.*\n$`, text.String())
}
