//go:build unix

package docs

import (
	"bufio"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/need"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
)

// scene runs a document's commands in a temporary folder. PATH contains lwcat, and the kubeconfig selects an
// embedded server whose objects change constantly. If a document starts examples/server, its later commands use
// that server.
type scene struct {
	*shell
	server   *lwtest.Server
	other    *strings.Replacer // replaces the addresses in the document with the real addresses
	programs string
}

func TestCommandsPrintTheShownOutput(t *testing.T) {
	programs := build(t)
	documents := map[string][]Block{}
	for _, b := range read(t) {
		if slices.Contains([]string{"console", "sh", "ini"}, b.Language) {
			documents[b.File] = append(documents[b.File], b)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(documents)) {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, programs)
			for _, b := range documents[file] {
				require.NoError(t, s.play(b))
			}
		})
	}
}

// build compiles the programs that documents run and returns their folder. lwcat is a wrapper script that writes its
// process ID to a file, so that the test can interrupt lwcat.
func build(t *testing.T) (programs string) {
	t.Helper()
	need.Program(t, "bash", "install bash")
	programs = t.TempDir()
	for name, what := range map[string]string{"real-lwcat": "./cmd/lwcat", "server": "./examples/server"} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(programs, name), what)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	wrapper := "#!/bin/sh\necho $$ >\"$LWCAT_PID\"\nexec real-lwcat \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(programs, "lwcat"), []byte(wrapper), 0o755))
	return programs
}

// play runs a block's commands. It returns an error if their output differs from the block.
func (s *scene) play(b Block) error {
	all, err := commands(b)
	for _, c := range all {
		if strings.HasPrefix(c.text, "go run ./examples/server") {
			if err := s.startServer(c); err != nil {
				return err
			}
			continue
		}
		if isKnown, err := exists(path.Dir(b.File), c.text); isKnown {
			if err != nil || strings.Contains(c.text, "go run ") {
				return err // skips the rest of the block, which may need this program
			}
			continue
		}
		for _, needed := range []string{"curl", "jq"} {
			if strings.Contains(c.text, needed) {
				need.Program(s, needed, "on Debian: apt install "+needed)
			}
		}
		c.text, c.above, c.below = s.other.Replace(c.text), s.other.Replace(c.above), s.other.Replace(c.below)
		if err := s.run(c, func() bool { return len(s.server.Open(lwtest.Watches)) >= c.watches() }); err != nil {
			return err
		}
	}
	return err
}

// startServer starts examples/server. The server runs until all commands in the document have finished.
func (s *scene) startServer(c command) error {
	args := strings.Fields(c.text)[3:] // without "go run ./examples/server"
	args = append([]string{"-addr", "127.0.0.1:0", "-control", "127.0.0.1:0"}, args...)
	cmd := exec.Command(filepath.Join(s.programs, "server"), args...)
	out, err := cmd.StdoutPipe()
	require.NoError(s, err)
	require.NoError(s, cmd.Start())
	s.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var text string
	for in := bufio.NewScanner(out); strings.Count(text, "\n") < 2 && in.Scan(); {
		text += in.Text() + "\n"
	}
	found := addresses.FindAllString(text, 2)
	require.Len(s, found, 2, text)
	s.other = strings.NewReplacer("127.0.0.1:8485", found[0], "127.0.0.1:8486", found[1])
	if shown := s.other.Replace(c.above); !c.pattern(shown).MatchString(text) {
		return fmt.Errorf("%s: %s\nprinted\n%s\nbut the document shows\n%s", c.at, c.text, text, shown)
	}
	return nil
}

var addresses = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// newScene returns a scene with a running server and a shell.
func newScene(t *testing.T, programs string) *scene {
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	for _, definition := range more {
		_, err := server.Put("customresourcedefinitions.apiextensions.k8s.io", definition)
		require.NoError(t, err)
	}
	folder := t.TempDir()
	secure := httptest.NewTLSServer(server)
	t.Cleanup(secure.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	require.NoError(t, os.WriteFile(filepath.Join(folder, "ca.crt"), authority, 0o600))
	config := fmt.Sprintf(ourConfig, server.URL)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "config"), []byte(config), 0o600))
	live(t, server)
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) // accepts every alert
	t.Cleanup(hook.Close)
	return &scene{
		shell: newShell(t, folder, "PATH="+programs+":"+os.Getenv("PATH"), "HOME="+folder, "KUBECONFIG="+filepath.Join(folder, "config"),
			"LWCAT_PID="+filepath.Join(folder, ".pid"), "TOKEN=any", "NO_COLOR=1", "STATE_DIRECTORY="+folder),
		server:   server,
		other:    strings.NewReplacer("https://127.0.0.1:6443", secure.URL, "http://127.0.0.1:8001", server.URL, "http://127.0.0.1:9000", hook.URL),
		programs: programs,
	}
}

const ourConfig = `{"current-context": "here", "contexts": [{"name": "here", "context": {"cluster": "here"}},
	{"name": "staging", "context": {"cluster": "here"}}, {"name": "production", "context": {"cluster": "here"}}],
	"clusters": [{"name": "here", "cluster": {"server": %q}}]}`

// more defines resources that documents use but lwtest does not serve by default. It also redefines Pods, so that they
// have the columns that kubectl shows.
var more = []string{
	sample.Definition("jobs.batch", "v1", "Job", ""),
	sample.Definition("events.events.k8s.io", "v1", "Event", ""),
	strings.Replace(sample.Definition("pods", "v1", "Pod", `[{"name":"Ready","jsonPath":".status.ready"},
		{"name":"Status","jsonPath":".status.phase"}, {"name":"Restarts","type":"integer","jsonPath":".status.restarts"},
		{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"},
		{"name":"IP","jsonPath":".status.podIP","priority":1}, {"name":"Node","jsonPath":".spec.nodeName","priority":1}]`),
		`"kind":"Pod"`, `"kind":"Pod","shortNames":["po"]`, 1),
}
