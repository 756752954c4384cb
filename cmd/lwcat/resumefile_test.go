package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
)

// saved returns the ConfigMaps in a resume file and their resourceVersion, for example "a=1 b=2 @2". It returns ""
// if the file does not contain the collection.
func saved(t *testing.T, path, server string) string {
	t.Helper()
	f := &resumeFile{path: path, server: server}
	entries, err := f.read()
	require.NoError(t, err)
	var names []string
	version := ""
	for _, entry := range entries {
		if entry.object == nil {
			version = " @" + entry.version
		} else {
			names = append(names, entry.object.GetName()+"="+entry.object.GetResourceVersion())
		}
	}
	return strings.Join(slices.Sorted(slices.Values(names)), " ") + version
}

// killed is a series of lwcat processes that are killed one after another and that append to the same output file.
type killed struct {
	*testing.T
	server *lwtest.Server
	out    *os.File
	state  string
}

func newKilled(t *testing.T) *killed {
	k := &killed{T: t, server: start(t, nil), state: filepath.Join(t.TempDir(), "state")}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = out.Close() })
	k.out = out
	return k
}

// start starts a process that continues with the resume file. The returned function kills it.
func (k *killed) start(stderr io.Writer) (kill func()) {
	cmd := exec.CommandContext(k.Context(), "lwcat", "-s", k.server.URL, "cm", "--resume", k.state)
	cmd.Stdout, cmd.Stderr = k.out, stderr
	require.NoError(k, cmd.Start())
	return func() {
		require.NoError(k, cmd.Process.Kill())
		require.Error(k, cmd.Wait())
	}
}

// printed returns the printed events. A killed process may leave an incomplete line, to which the next process
// appends.
func (k *killed) printed() (events []line) {
	text, err := os.ReadFile(k.out.Name())
	require.NoError(k, err)
	for text := range strings.Lines(string(text)) {
		if _, whole, cut := strings.Cut(text[1:], `{"type":`); cut {
			text = `{"type":` + whole
		}
		var event line
		if json.Unmarshal([]byte(text), &event) == nil {
			events = append(events, event)
		}
	}
	return events
}

// modified returns the modification time of the resume file.
func (k *killed) modified() time.Time {
	info, err := os.Stat(k.state)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// TestKilledRunsMissNothing kills many processes at random times while objects change. Together, they must print every
// change of every object.
func TestKilledRunsMissNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 0))
			k := newKilled(t)
			code, _, errs := lwcat(t, "-s", k.server.URL, "cm", "--resume", k.state, "--once")
			require.Equal(t, exitDone, code, errs) // the file now has a resourceVersion, so that no later run lists
			var names []string
			written := 0
			// lwcat relists if it resumes with an empty collection or after an object was recreated. To avoid this,
			// no name is used twice, and the first object stays.
			change := func() {
				i := 0
				if len(names) > 0 {
					i = random.IntN(len(names))
				}
				written++
				switch action := random.IntN(3); {
				case action == 0 || len(names) == 0:
					names = append(names, fmt.Sprint("object-", written))
					create(t, k.server, "configmaps", named(names[len(names)-1]))
				case action == 1, i == 0:
					_, err := k.server.Put("configmaps", fmt.Sprintf(`{"metadata":{"name":%q},"data":{"n":"%d"}}`, names[i], written))
					require.NoError(t, err)
				default:
					require.NoError(t, k.server.Delete("configmaps", "default", names[i]))
					names = slices.Delete(names, i, i+1)
				}
			}
			for range 12 {
				kill := k.start(t.Output())
				before, saves, started := len(k.printed()), random.IntN(8)/7, k.modified()
				for range random.IntN(50) {
					change()
				}
				most := random.IntN(40)
				eventually(t, "a random number of events", func() bool {
					change()
					return len(k.printed()) >= before+most
				})
				eventually(t, "a save", func() bool {
					change()
					return saves == 0 || !k.modified().Equal(started)
				})
				kill()
			}
			version, _ := k.server.State("configmaps")
			kill := k.start(t.Output())
			var seen map[string]bool
			eventually(t, "the last change", func() bool {
				seen = map[string]bool{}
				for _, event := range k.printed() {
					seen[event.Object.Metadata.ResourceVersion] = true
				}
				return seen[version]
			})
			kill()
			var last int
			_, err := fmt.Sscan(version, &last)
			require.NoError(t, err)
			for n := 2; n <= last; n++ {
				require.True(t, seen[fmt.Sprint(n)], "change %d of %d", n, last)
			}
		})
	}
}

// TestRunKilledDuringListMissesNothing kills a process that has received and saved only a part of a list. The saved
// objects must have been printed.
func TestRunKilledDuringListMissesNothing(t *testing.T) {
	t.Parallel()
	k := newKilled(t)
	for i := range 50 {
		create(t, k.server, "configmaps", named(fmt.Sprint("object-", i)))
	}
	sent := 10 + rand.IntN(30)
	k.server.Fail(lwtest.Watches, 1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(&stallingWriter{ResponseWriter: w, left: sent, end: r.Context().Done()}, r)
	})
	kill := k.start(t.Output())
	eventually(t, "a save during the list", func() bool {
		return !k.modified().IsZero() && strings.Contains(saved(t, k.state, k.server.URL), "=")
	})
	names := map[string]bool{}
	inFile := saved(t, k.state, k.server.URL)
	kill()
	for _, event := range k.printed() {
		names[event.Object.Metadata.Name] = true
	}
	for entry := range strings.FieldsSeq(inFile) {
		name, _, _ := strings.Cut(entry, "=")
		require.True(t, name == "@" || names[name], "%s is saved but not printed", entry)
	}
	require.True(t, strings.HasSuffix(inFile, " @"), "the next run must list: %s", inFile)
	code, out, errs := lwcat(t, "-s", k.server.URL, "cm", "--resume", k.state, "--once")
	require.Equal(t, exitDone, code, errs)
	for _, event := range lines(t, out) {
		require.False(t, names[event.Object.Metadata.Name], "an object of the interrupted list is repeated")
		names[event.Object.Metadata.Name] = true
	}
	require.Len(t, names, 50)
}

// stallingWriter writes the first events of a watch and then blocks until the request ends.
type stallingWriter struct {
	http.ResponseWriter
	left int // number of events to write
	end  <-chan struct{}
}

func (w *stallingWriter) Write(p []byte) (int, error) {
	for i := range p {
		if p[i] == '\n' {
			if w.left--; w.left == 0 {
				n, err := w.ResponseWriter.Write(p[:i+1])
				w.ResponseWriter.(http.Flusher).Flush()
				<-w.end
				return n, err
			}
		}
	}
	return w.ResponseWriter.Write(p)
}

func (w *stallingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
func (w *stallingWriter) Flush()                      { w.ResponseWriter.(http.Flusher).Flush() }

// printerOf returns a printer that saves to a resume file, and a stream for ConfigMaps that uses it.
func printerOf(t *testing.T, path string, out io.Writer) (*printer, *stream) {
	t.Helper()
	file, err := openResume(path, "s")
	require.NoError(t, err)
	format, err := output.New("jsonl", &output.Options{})
	require.NoError(t, err)
	p := &printer{config: &config{output: outputOptions{format: format}}, out: bufio.NewWriter(out), status: &status{out: t.Output()}}
	p.resume = file
	return p, &stream{config: &config{}, resource: lw.Resource{Version: "v1", Plural: "configmaps"}, out: p}
}

// printEvent prints an event for one object.
func printEvent(t *testing.T, p *printer, s *stream, eventType lw.EventType, name, version string, flush bool) error {
	t.Helper()
	o, err := lw.ParseObject([]byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"` + name + `","uid":"u","resourceVersion":"` + version + `"},"data":{"k":"s3cret"}}`))
	require.NoError(t, err)
	event := lw.Event[*lw.Object]{Type: eventType, Object: o, ResourceVersion: version}
	if !flush {
		event.ResourceVersion = "" // a list is in progress
	}
	return p.print(s, &event, []output.Event{{Type: eventType, Object: o}}, true, false, flush)
}

// A killed run may repeat at most five seconds of events, so the file must be saved even if no further events
// follow, and even during a list.
func TestResumeFileIsSavedRegularly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer
		p, s := printerOf(t, path, &out)
		go p.saveUntil(t.Context(), func(err error) { t.Error(err) })
		require.NoError(t, printEvent(t, p, s, lw.Added, "a", "1", true))
		time.Sleep(4500 * time.Millisecond)
		require.Equal(t, "a=1 @1", saved(t, path, "s"))
		require.NoError(t, p.print(s, &lw.Event[*lw.Object]{Type: lw.ListStarted}, nil, true, false, false))
		require.NoError(t, printEvent(t, p, s, lw.Added, "b", "2", false))
		require.NotContains(t, out.String(), `"b"`)
		time.Sleep(4500 * time.Millisecond)
		require.Contains(t, out.String(), `"b"`)
		require.Equal(t, "a=1 b=2 @", saved(t, path, "s"), "the next run must list")
	})
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(text), "s3cret")
}

// If the output fails, unwritten events must not be saved as printed.
func TestUnwrittenEventsAreNotSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	p, s := printerOf(t, path, &fullDisk{400})
	require.NoError(t, printEvent(t, p, s, lw.Added, "a", "1", true))
	require.Error(t, printEvent(t, p, s, lw.Added, "b", "2", true))
	require.Error(t, p.flush())
	require.NoError(t, p.save())
	require.Equal(t, "a=1 @1", saved(t, path, "s"))
}

// The file must keep the state of collections that a run does not follow.
func TestResumeFileKeepsOtherCollections(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	p, s := printerOf(t, path, io.Discard)
	require.NoError(t, printEvent(t, p, s, lw.Added, "a", "1", true))
	require.NoError(t, printEvent(t, p, s, lw.Added, "b", "2", true))
	require.NoError(t, printEvent(t, p, s, lw.Deleted, "a", "3", true))
	require.NoError(t, p.save())
	p, s = printerOf(t, path, io.Discard)
	version, objects, found := p.resume.restore(s.resumeID())
	require.True(t, found)
	require.Equal(t, "3", version)
	require.Len(t, objects, 1)
	require.JSONEq(t, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"b","namespace":"","uid":"u","resourceVersion":"2"}}`, objects[0].Raw())
	s.config.resources.labels = "app=web"
	_, _, found = p.resume.restore(s.resumeID())
	require.False(t, found)
	require.NoError(t, printEvent(t, p, s, lw.Added, "b", "2", true))
	require.NoError(t, p.save())
	require.Equal(t, "b=2 b=2 @2", saved(t, path, "s"))
}
