package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// results maps the full text of each Ginkgo spec to its state, for example "passed" or "skipped: needs a cluster".
type results map[string]string

func (r results) count(state string) (n int) {
	for _, s := range r {
		if s == state {
			n++
		}
	}
	return n
}

// lost returns the specs that pass in stock but not in ours, each with its state in ours.
func lost(stock, ours results) (specs []string) {
	for spec, state := range stock {
		if state == "passed" && ours[spec] != "passed" {
			specs = append(specs, spec+": "+ours[spec])
		}
	}
	return specs
}

func TestLostSpecsAreFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.json")
	require.NoError(t, os.WriteFile(path, []byte(`[{"SpecReports":[
		{"ContainerHierarchyTexts":["A"],"LeafNodeType":"It","LeafNodeText":"works","State":"passed"},
		{"ContainerHierarchyTexts":["A"],"LeafNodeType":"It","LeafNodeText":"is the same text","State":"passed"},
		{"ContainerHierarchyTexts":["A"],"LeafNodeType":"It","LeafNodeText":"is the same text","State":"failed"},
		{"ContainerHierarchyTexts":["A"],"LeafNodeType":"It","LeafNodeText":"is skipped","State":"skipped","Failure":{"Message":"no reason"}},
		{"ContainerHierarchyTexts":null,"LeafNodeType":"BeforeSuite","LeafNodeText":"","State":"passed"}
	]}]`), 0o600))
	read := readReport(t, path, nil)
	require.Equal(t, results{"A / works": "passed", "A / is the same text": "failed", "A / is skipped": "skipped: no reason"}, read)
	require.Equal(t, 1, read.count("passed"))
	require.Equal(t, []string{"A / is the same text: failed"}, lost(results{"A / works": "passed", "A / is the same text": "passed"}, read))
	require.Equal(t, []string{"B: "}, lost(results{"B": "passed"}, read))
	require.Empty(t, lost(results{"B": "failed"}, read))
}

// readReport returns the results in Ginkgo's JSON report. Several specs may have the same text. If one of them fails,
// the result for this text is a failure.
func readReport(t *testing.T, path string, output []byte) results {
	text, err := os.ReadFile(path)
	require.NoError(t, err, "the suite wrote no report:\n%s", output)
	var suites []struct {
		SpecReports []struct {
			ContainerHierarchyTexts []string
			LeafNodeType            string
			LeafNodeText            string
			State                   string
			Failure                 struct{ Message string } // why the spec was skipped
		}
	}
	require.NoError(t, json.Unmarshal(text, &suites))
	got := results{}
	for _, suite := range suites {
		for _, spec := range suite.SpecReports {
			name := strings.Join(append(spec.ContainerHierarchyTexts, spec.LeafNodeText), " / ")
			if spec.LeafNodeType == "It" && (got[name] == "" || got[name] == "passed") {
				got[name] = spec.State
				if spec.State == "skipped" {
					got[name] += ": " + spec.Failure.Message
				}
			}
		}
	}
	return got
}

var failure = regexp.MustCompile(`(?m)^.*(\[FAIL|FAIL:|panic:|Timed out).*$`)

// failures returns at most 50 lines of output that report a failure.
func failures(output []byte) []byte {
	var lines []byte
	for _, line := range failure.FindAll(output, 50) {
		lines = append(append(lines, line...), '\n')
	}
	return lines
}
