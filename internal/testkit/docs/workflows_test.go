package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// workflow contains the fields of a GitHub workflow that these tests check.
type workflow struct {
	On   any
	Jobs map[string]struct {
		Uses  string
		Needs string
		Steps []struct {
			Uses, Run string
			Env       map[string]string
		}
	}
}

// workflows returns the parsed files of .github/workflows. The keys are file names.
func workflows(t *testing.T) map[string]workflow {
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*"))
	require.NoError(t, err)
	all := map[string]workflow{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var one workflow
		require.NoError(t, yaml.Unmarshal(text, &one), file)
		require.NotEmpty(t, one.On, "%s has no trigger", file)
		require.NotEmpty(t, one.Jobs, "%s has no jobs", file)
		all[filepath.Base(file)] = one
	}
	return all
}

// targets returns the make targets that the workflow runs, directly or with .ci/run.
func (w workflow) targets(t *testing.T) (all []string) {
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			for line := range strings.Lines(step.Run) {
				words := strings.Fields(line)
				if len(words) < 2 || words[0] != "make" && words[0] != ".ci/run" {
					continue
				}
				require.NoError(t, makes(".", words[1:]), line)
				isVariable := func(word string) bool { return strings.Contains(word, "=") }
				all = append(all, slices.DeleteFunc(words[1:], isVariable)...)
			}
		}
	}
	return all
}

func TestWorkflowsRunEveryStage(t *testing.T) {
	var run []string
	for _, w := range workflows(t) {
		run = append(run, w.targets(t)...)
	}
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	for _, lane := range []string{"BUSY", "SERVERS", "PAGES", "LONG"} {
		stages := regexp.MustCompile(`(?m)^` + lane + ` += (.*)$`).FindStringSubmatch(string(text))
		require.NotNil(t, stages, lane)
		require.NoError(t, makes(".", strings.Fields(stages[1])))
		require.True(t, slices.ContainsFunc(run, func(target string) bool {
			_, recipe, _ := strings.Cut(string(text), "\n"+target+":")
			recipe, _, _ = strings.Cut(recipe, "\n\n")
			return strings.Contains(recipe, "stages.sh") && strings.Contains(recipe, "$("+lane+")")
		}), "no workflow runs the stages in %s: %s", lane, stages[1])
	}
}

func TestNightlyWorkflowRequiresTheVulnerabilityDatabase(t *testing.T) {
	nightly := workflows(t)["nightly.yml"]
	require.Contains(t, nightly.On, "schedule")
	require.ElementsMatch(t, []string{"nightly", "e2e-versions", "bench-browser", "sim"}, nightly.targets(t))
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	require.Regexp(t, `(?m)^nightly:.*\n\t.*VULNDB=required .*stages\.sh '.*\bvulncheck\b.*'$`, string(text))
}

func TestNightlyWorkflowChecksTheLimitsInBrowsers(t *testing.T) {
	steps := workflows(t)["nightly.yml"].Jobs["bench-browser"].Steps
	last := steps[len(steps)-1]
	require.Equal(t, ".ci/run bench-browser", last.Run)
	require.Equal(t, "1", last.Env["CHECK"], "without CHECK=1, make bench-browser exits with 0 even if a limit is exceeded")
}

func TestReleaseWaitsForTheTests(t *testing.T) {
	all := workflows(t)
	release := all["release.yml"]
	require.Contains(t, all["ci.yml"].On, "workflow_call")
	require.Contains(t, release.targets(t), "release")
	for name, job := range release.Jobs {
		if job.Uses == "" {
			require.Equal(t, "./.github/workflows/ci.yml", release.Jobs[job.Needs].Uses, "the job %s must need a job that runs ci.yml", name)
		}
	}
}

// Other CI systems run .ci/run without an argument. It must then run the tests instead of printing a help text.
func TestCIScriptRunsTheTestsByDefault(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(script)), "\n")
	require.Equal(t, `make "${1:-ci}"`, lines[len(lines)-1])
}
