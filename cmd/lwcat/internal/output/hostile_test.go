package output

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
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
					require.False(t, strings.ContainsFunc(line, func(r rune) bool {
						return unicode.IsControl(r) && r != '\t' || spec != "yaml" && unicode.Is(unicode.Bidi_Control, r)
					}), "format %s, name %q: %q", spec, nasty, line)
				}
			}
		}
	}
}

func TestHeadersAreEscaped(t *testing.T) {
	for _, nasty := range []string{"\x1b[2J", "\x1b]0;x\a", "a\nb", "\r", "\u009b2J", "\x9b2J", "\u202ex", "\u2028", "\x7f"} {
		e := added(t, "pods", web0)
		e.Row = &Row{Columns: []string{"Na" + nasty + "me", "Age"}, Cells: cells(t, `["web-0","5s"]`)}
		all := printed(t, "wide", &Options{}, e)
		require.Equal(t, 2, strings.Count(all, "\n"), "%q", all)
		for _, line := range strings.Split(all, "\n") {
			require.True(t, utf8.ValidString(line), "%q", line)
			require.False(t, strings.ContainsFunc(line, isControl), "%q", line)
		}
	}
}
