package output

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/table"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// TestNamesAreEscaped checks that a name cannot control a terminal, start a line or break JSON.
func TestNamesAreEscaped(t *testing.T) {
	for _, nasty := range []string{
		`\u001b[2J`, `a\nb`, `a\r\n--- # x`, `\u0007`, `\u007f`, "\u009b2J", `\u202ex`, `\u2028`, `\"`, `\\`, `\u0000`, `\ud800`, "\xff", `\u0000\u001b]0;x\u0007`, "\U000e0001", `</script>`,
	} {
		text := `{"kind":"Pod` + nasty + `","apiVersion":"v1","metadata":{"name":"` + nasty + `","namespace":"` + nasty + `","resourceVersion":"` + nasty + `"},"status":{"phase":"` + nasty + `"}}`
		for _, spec := range []string{"jsonl", "line", "wide", "name", "diff", "yaml", "custom-columns=A:.metadata.name"} {
			for _, types := range []bool{false, true} {
				opts := &Options{Types: types}
				all := printed(t, spec, opts, added(t, "pods", text), modified(t, "pods", web0, text), deleted(t, "pods", text))
				lines := strings.Split(strings.TrimSuffix(all, "\n"), "\n")
				if spec == "jsonl" {
					require.Len(t, lines, 3)
					for _, line := range lines {
						require.True(t, json.Valid([]byte(line)), "%s", line)
					}
					continue // the object is printed unchanged
				}
				require.NotContains(t, strings.Join(lines, "\n"), "\n--- # x")
				for _, line := range lines {
					require.False(t, strings.ContainsFunc(line, isControl), "format %s, name %q: %q", spec, nasty, line)
					require.True(t, utf8.ValidString(line), "format %s, name %q: %q", spec, nasty, line)
				}
			}
		}
	}
}

func TestHeadersAreEscaped(t *testing.T) {
	for _, nasty := range []string{"\x1b[2J", "\x1b]0;x\a", "a\nb", "\r", "\u009b2J", "\x9b2J", "\u202ex", "\u2028", "\x7f"} {
		e := added(t, "pods", web0)
		e.Columns, e.Cells = []table.Column{{Name: "Na" + nasty + "me"}, {Name: "Age"}}, cells(t, `["web-0","5s"]`)
		all := printed(t, "wide", &Options{}, e)
		require.Equal(t, 2, strings.Count(all, "\n"), "%q", all)
		for _, line := range strings.Split(all, "\n") {
			require.True(t, utf8.ValidString(line), "%q", line)
			require.False(t, strings.ContainsFunc(line, isControl), "%q", line)
		}
	}
}

// hostileText is a JSON string with all kinds of characters that a terminal interprets, both escaped and plain. Its
// line breaks and tabs are harmless.
const hostileText = `"\u001b]0;title\u0007\u009b2J \u202eabc\u2069 \u2028\r\u007f` + "\u009b2J\u202e\u2066\u061c\x7f\x9b2J" + `\ttab\nline"`

// On a terminal, no format may pass on a character that moves the cursor, changes the title or reverses text.
func TestTerminalIsProtected(t *testing.T) {
	text := `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{"a":` + hostileText + `},"annotations":{` + hostileText + ":" + hostileText + `}},` + "\r\n" + `"text":` + hostileText + `,"list":[` + hostileText + `]}`
	for _, spec := range []string{
		"jsonl", "json", "line", "table", "wide", "diff", "name", "yaml", "custom-columns=A:.text,B:.list,C:.metadata",
		"jsonpath={.text}", "jsonpath={.list} {.metadata.annotations}", "jsonpath={range .metadata.annotations.*}{@}{end}", "jsonpath={$}",
	} {
		for _, types := range []bool{false, true} {
			opts := &Options{Terminal: true, Types: types, Old: true, Labels: true, LabelColumns: []string{"a\x1b[2J"}}
			for line := range strings.SplitSeq(printed(t, spec, opts, added(t, "pods", text), modified(t, "pods", web0, text), modified(t, "pods", text, web0)), "\n") {
				require.True(t, utf8.ValidString(line), "format %s: %q", spec, line)
				require.False(t, strings.ContainsFunc(strings.ReplaceAll(line, "\t", ""), isControl), "format %s: %q", spec, line)
			}
		}
	}
	require.Equal(t, "\x1b[1mcolor ok\n", printed(t, "jsonpath=\x1b[1mcolor {.text}", &Options{Terminal: true}, added(t, "pods", `{"text":"ok"}`)), "the template may control the terminal")
	require.Equal(t, "a\n\tb\n", printed(t, "jsonpath={.text}", &Options{Terminal: true}, added(t, "pods", `{"text":"a\n\tb"}`)))
}

// The escapes in JSON and YAML must not change the decoded values.
func TestTerminalEscapesKeepJSONAndYAML(t *testing.T) {
	text := `{"metadata":{"name":"a"},"text":` + hostileText + `,` + hostileText + `:"\\u202e \\\u202e"}`
	var want, got map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &want))
	for _, spec := range []string{"jsonl", "json"} {
		var event struct{ Object map[string]any }
		require.NoError(t, json.Unmarshal([]byte(printed(t, spec, &Options{Terminal: true, Types: true}, added(t, "pods", text))), &event))
		require.Equal(t, want, event.Object)
	}
	require.NoError(t, yaml.Unmarshal([]byte(printed(t, "yaml", &Options{Terminal: true}, added(t, "pods", text))), &got))
	require.Equal(t, want, got)
}

// When the output goes to a program, it must contain the exact value.
func TestPipesReceiveExactValues(t *testing.T) {
	const text = `{"text":"\u001b[2J\u0007\u202e"}`
	require.Equal(t, "\x1b[2J\a\u202e\n", printed(t, "jsonpath={.text}", &Options{}, added(t, "pods", text)))
	require.Contains(t, printed(t, "jsonl", &Options{}, added(t, "pods", "{\"text\":\"\u202e\"}")), "\u202e")
}
