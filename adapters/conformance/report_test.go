package conformance

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// results has the state of each spec by its full text.
type results map[string]string

func (r results) count(state string) (n int) {
	for _, s := range r {
		if s == state {
			n++
		}
	}
	return n
}

// readReport reads a JSON report of Ginkgo. Specs with the same text count as one, which passes if all of them pass.
func readReport(t *testing.T, path string, output []byte) results {
	text, err := os.ReadFile(path)
	require.NoError(t, err, "no report:\n%s", output)
	var suites []struct {
		SpecReports []struct {
			ContainerHierarchyTexts []string
			LeafNodeType            string
			LeafNodeText            string
			State                   string
		}
	}
	require.NoError(t, json.Unmarshal(text, &suites))
	got := results{}
	for _, suite := range suites {
		for _, spec := range suite.SpecReports {
			name := strings.Join(append(spec.ContainerHierarchyTexts, spec.LeafNodeText), " / ")
			if spec.LeafNodeType == "It" && (got[name] == "" || got[name] == "passed") {
				got[name] = spec.State
			}
		}
	}
	return got
}

var failure = regexp.MustCompile(`(?m)^.*(\[FAIL|FAIL:|panic:|Timed out).*$`)

// failures returns the lines of a suite's output that name a failure.
func failures(output []byte) []byte {
	var lines []byte
	for _, line := range failure.FindAll(output, 50) {
		lines = append(append(lines, line...), '\n')
	}
	return lines
}
