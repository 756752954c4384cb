package conformance

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pendingText lists the specs that do not run, one per line.
//
//go:embed testdata/pending.txt
var pendingText string

func pending(suite string) (specs []string) {
	for line := range strings.Lines(pendingText) {
		if strings.HasPrefix(line, suite+": ") {
			specs = append(specs, strings.TrimSpace(line))
		}
	}
	return specs
}

// TestControllerRuntimeSuites checks that each spec that passes with client-go's informers also passes with
// listwatch's. The environment variable CONFORMANCE selects suites, for example CONFORMANCE=cache,source.
func TestControllerRuntimeSuites(t *testing.T) {
	assets := envtestAssets(t)
	source := copyOfControllerRuntime(t)
	for _, suite := range suites() {
		t.Run(suite, func(t *testing.T) {
			binary := filepath.Join(t.TempDir(), "suite.test")
			run(t, source, "go", "test", "-mod=mod", "-c", "-o", binary, "./pkg/"+suite)
			stock := runSuite(t, source, suite, binary, assets, "client-go")
			ours := runSuite(t, source, suite, binary, assets, "listwatch")
			t.Logf("pkg/%s: %d of %d specs pass with client-go, %d of %d with listwatch",
				suite, stock.count("passed"), len(stock), ours.count("passed"), len(ours))
			require.NotZero(t, stock.count("passed"))
			require.Empty(t, lost(stock, ours), "no spec may pass only with client-go")
			var left []string
			for spec, state := range ours {
				if state != "passed" {
					left = append(left, fmt.Sprintf("%s: %s: %s", suite, spec, state))
				}
			}
			require.ElementsMatch(t, pending(suite), left, "testdata/pending.txt must name each spec that does not run")
		})
	}
}

// runSuite runs a compiled test suite with the given cache, "client-go" or "listwatch". It returns the result of
// each spec.
func runSuite(t *testing.T, source, suite, binary, assets, cache string) results {
	report := filepath.Join(t.TempDir(), cache+".json")
	command := exec.Command(binary, "-test.timeout=10m", "-ginkgo.json-report="+report)
	command.Dir = filepath.Join(source, "pkg", suite)
	command.Env = append(os.Environ(), "KUBEBUILDER_ASSETS="+assets, "LISTWATCH_CACHE_OF="+cache)
	output, err := command.CombinedOutput()
	got := readReport(t, report, output)
	if err != nil {
		t.Logf("pkg/%s with %s: %v\n%s", suite, cache, err, failures(output))
	}
	return got
}

// run runs a command in a folder and returns its combined output.
func run(t *testing.T, folder, name string, args ...string) []byte {
	command := exec.Command(name, args...)
	command.Dir = folder
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s %v:\n%s", name, args, output)
	return output
}
