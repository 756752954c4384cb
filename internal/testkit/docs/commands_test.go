package docs

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// command is a shell command from a code block, with its documented output.
type command struct {
	at           string
	text         string
	above, below string // output before and after "^C"
	interrupted  bool   // whether the output contains "^C"
	statusAsked  bool   // whether the next command is "echo $?", which prints the exit status of this command
	like         bool   // whether the block is marked "like", so numbers in the output may differ
}

// commands returns a block's commands. In a console block, a command starts with "$ " and continues after a
// backslash at the end of a line. A "# " line before a command is a comment. An "sh" block is a single command
// without output. An "ini" block's command is its ExecStart.
func commands(b Block) (found []command, err error) {
	switch b.Language {
	case "sh":
		return []command{{at: b.String(), text: b.Text}}, nil
	case "ini":
		return []command{{at: b.String(), text: execStart.FindStringSubmatch(b.Text)[1]}}, nil
	}
	goesOn := false
	lines := strings.Split(strings.TrimSuffix(b.Text, "\n"), "\n")
	for i, line := range lines {
		text, begins := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "# ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "$ "):
		case goesOn:
			found[len(found)-1].text += "\n" + line
		case begins:
			found = append(found, command{at: fmt.Sprintf("%s:%d", b.File, b.Line+i), text: text, like: b.Info == "like"})
		case len(found) == 0:
			return nil, wrong(b, "no line starts with \"$ \"; mark output as a \"text\" block")
		case line == "^C":
			found[len(found)-1].interrupted = true
		case found[len(found)-1].interrupted:
			found[len(found)-1].below += line + "\n"
		default:
			found[len(found)-1].above += line + "\n"
		}
		goesOn = (goesOn || begins) && strings.HasSuffix(line, `\`)
	}
	for i := range found[1:] {
		found[i].statusAsked = strings.HasPrefix(found[i+1].text, "echo $?")
	}
	return found, nil
}

// execStart captures the command of a systemd unit, without the folder of the program.
var execStart = regexp.MustCompile(`(?m)^ExecStart=\S*/(.*)$`)

// ends matches lwcat commands that exit by themselves or run in the background.
var ends = regexp.MustCompile(`--(once|count|until|timeout|replay|help)\b|lwcat (completion|help|version)\b|\| head|&$`)

// goesOn reports whether the command runs until the test interrupts it. Most lwcat commands watch forever.
func (c command) goesOn() bool {
	return c.interrupted || strings.HasPrefix(c.text, "lwcat ") && !ends.MatchString(c.text)
}

// severalCollections matches commands that watch two collections. The test must not interrupt them before both watches.
var severalCollections = regexp.MustCompile(`\bpods[ ,]deploy\b`)

// watches returns how many watches the command opens.
func (c command) watches() int {
	if severalCollections.MatchString(c.text) {
		return 2
	}
	return 1
}

// parts matches the parts of a line that may differ from the output shown in the document.
var parts = regexp.MustCompile(`…|\d\d:\d\d:\d\d(?:\.\d+)?Z?|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\d|` +
	`\b[0-9.]+(?:µs|ms|s|m|h)\b|[ \t]+|\d+`)

// pattern returns a regular expression that matches the printed output. `shown` is the output in the document. Times,
// durations, UIDs and the width of spaces may differ. "…" represents any text or, alone on a line, any lines. If shown
// is empty, any output matches. A command that must be interrupted may print more than the document shows. In a block
// marked "like", numbers may differ and lines may be added.
func (c command) pattern(shown string) *regexp.Regexp {
	var b strings.Builder
	for line := range strings.Lines(shown) {
		if c.like || line == "…\n" {
			b.WriteString(`(?:.*\n)*?`)
		}
		if line != "…\n" {
			b.WriteString(c.line(strings.TrimRight(line, " \n")) + ` *\n`)
		}
	}
	if c.like || c.goesOn() || shown == "" {
		b.WriteString(`(?:.*\n?)*`)
	}
	return regexp.MustCompile(`^` + b.String() + `$`)
}

func (c command) line(line string) string {
	out, at := "", 0
	for _, part := range parts.FindAllStringIndex(line, -1) {
		out += regexp.QuoteMeta(line[at:part[0]])
		at = part[1]
		switch text := line[part[0]:part[1]]; {
		case text == "…":
			out += `.*`
		case strings.TrimSpace(text) == "":
			out += `[ \t]+`
		case strings.ContainsAny(text, ":-µmsh"):
			out += `[-0-9a-fµmshZ:.]+`
		case c.like:
			out += `\d+`
		default:
			out += text
		}
	}
	return out + regexp.QuoteMeta(line[at:])
}

func TestPatternsAllowVaryingParts(t *testing.T) {
	for _, c := range []struct {
		shown, text string
		like        bool
		want        bool
	}{
		{"a 7\n", "a   7\n", false, true},
		{"a 7\n", "a 8\n", false, false},
		{"a 7\n", "a 8\n", true, true},
		{"a\n", "a\nb\n", false, false},
		{"a\nc\n", "a\nb\nc\nd\n", true, true},
		{"a\nc\n", "c\na\n", true, false},
		{"a\n…\nc\n", "a\nb\nb\nc\n", false, true},
		{"a\n…\nc\n", "a\nc\n", false, true},
		{"a … c\n", "a b b c\n", false, true},
		{"13:09:37.139 2s 1.9s x\n", "14:00:00.1 10ms 20µs x\n", false, true},
		{"13:09:37.139 x\n", "14:00:00.1 y\n", false, false},
		{"2 pods\n", "3 pods\n", false, false},
		{"uid ae2dedbf-8afa-47c5-838a-2f8a8e21e06d\n", "uid be2dedbf-8afa-47c5-838a-2f8a8e21e06e\n", false, true},
	} {
		require.Equal(t, c.want, command{like: c.like}.pattern(c.shown).MatchString(c.text), "shown %q, printed %q", c.shown, c.text)
	}
}
