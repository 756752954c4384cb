package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// quotes maps each document that quotes a program to the program's file, and to the module to which the document's Go
// blocks belong.
var quotes = map[string]struct{ module, file string }{
	"docs/tutorials/go-service.md": {"", "examples/service/main.go"},
	"docs/tutorials/controller.md": {"e2e/clients", "examples/clientgo/environment/controller.go"},
	"docs/lwtest.md":               {"e2e/clients", "examples/clientgo/environment/controller_test.go"},
}

func TestDocumentsQuoteTheirPrograms(t *testing.T) {
	quoting := map[string]bool{}
	for _, b := range read(t) {
		if of, ok := quotes[b.File]; ok && b.Language == "go" && b.Info == of.module {
			require.NoError(t, isQuote(b, of.file))
			quoting[b.File] = true
		}
	}
	require.Len(t, quoting, len(quotes), "every document in the map `quotes` must quote its program")
}

func TestWrongQuotesAreFound(t *testing.T) {
	file := "examples/service/main.go"
	for _, text := range []string{"flag.Parse()\nflag.Parse()\n", "func nothing() {\n", "func main() {\n…\nfunc nothing() {\n"} {
		require.ErrorContains(t, isQuote(Block{File: "doc.md", Line: 1, Text: text}, file), "doc.md:1: examples/service/main.go lacks")
	}
	require.NoError(t, isQuote(Block{Text: "func main() {\n\t…\n\tflag.Parse()\n"}, file))
}

// isQuote returns an error if file does not contain the block's lines. "…" in the block represents omitted lines. The
// indentation may differ.
func isQuote(b Block, file string) error {
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return err
	}
	program := trimmed(string(text))
	for part := range strings.SplitSeq(trimmed(b.Text), "\n…\n") {
		if !strings.Contains(program, "\n"+strings.Trim(part, "\n")+"\n") {
			return wrong(b, file+" lacks\n"+part)
		}
	}
	return nil
}

// trimmed removes leading and trailing white space from each line.
func trimmed(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return "\n" + b.String()
}
