package main

import (
	"context"
	"encoding/json"
	"maps"
	"net"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
)

// running is an lwcat run that is in progress.
type running struct {
	t         *testing.T
	out, errs lockedBuffer
	stop      func() // interrupts lwcat and waits until it exits
}

// follow starts lwcat. Its output is appended to that of an earlier run.
func follow(t *testing.T, earlier string, args ...string) *running {
	r := &running{t: t}
	r.out.text.WriteString(earlier)
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("stdout:\n%s\nstderr:\n%s", r.out.String(), r.errs.String())
		}
	})
	done := make(chan int, 1)
	go func() { done <- run(ctx, append(args, "-v"), &r.out, &r.errs, false) }()
	r.stop = func() {
		cancel(errInterrupted)
		require.Equal(t, exitInterrupted, <-done, r.errs.String())
	}
	return r
}

// applied applies the printed events in order and returns the UIDs of the existing objects by name. An object's UID
// must not change.
func (r *running) applied() map[string]string {
	uids := map[string]string{}
	text := r.out.String()
	for line := range strings.Lines(text[:strings.LastIndex(text, "\n")+1]) {
		var event struct {
			Type   string
			Object struct{ Metadata struct{ Name, UID string } }
		}
		require.NoError(r.t, json.Unmarshal([]byte(line), &event))
		known, exists := uids[event.Object.Metadata.Name]
		require.Equal(r.t, event.Type != "ADDED", exists, line)
		if exists {
			require.Equal(r.t, known, event.Object.Metadata.UID)
		}
		if uids[event.Object.Metadata.Name] = event.Object.Metadata.UID; event.Type == "DELETED" {
			delete(uids, event.Object.Metadata.Name)
		}
	}
	return uids
}

// shows waits until the printed events add up to a server's ConfigMaps.
func (r *running) shows(server *lwtest.Server) {
	r.t.Helper()
	eventually(r.t, "the objects of the server", func() bool { return maps.Equal(r.applied(), uidsOf(server)) })
}

func uidsOf(server *lwtest.Server) map[string]string {
	uids := map[string]string{}
	_, objects := server.State("configmaps")
	for _, object := range objects {
		uids[object.GetName()] = object.GetUID()
	}
	return uids
}

// watching waits until lwcat is watching the server. If lwcat did not resume, watching also waits until lwcat has
// printed its first list. An open request does not prove this, because it may be for a streaming list that the server
// is about to reject. If the test then closed the server before the response, lwcat would exit.
func watching(t *testing.T, server *lwtest.Server, r *running, resumed bool) {
	t.Helper()
	eventually(t, "a watch", func() bool {
		return (resumed && watchAnswered.MatchString(r.errs.String()) || r.out.String() != "") && len(server.Open(func(r lwtest.Request) bool {
			return lwtest.Watches(r) && (!resumed || r.URL.Query().Get("sendInitialEvents") == "")
		})) > 0
	})
}

// watchAnswered matches the message that lwcat logs when the server has responded to a watch.
var watchAnswered = regexp.MustCompile(`< \S*\bwatch=\S*: response`)

// fill makes unrelated changes, which raise the resourceVersion, and then creates ConfigMaps.
func fill(t *testing.T, server *lwtest.Server, changes int, names ...string) {
	for range changes {
		create(t, server, "nodes", named("n"))
		require.NoError(t, server.Delete("nodes", "", "n"))
	}
	for _, name := range names {
		create(t, server, "configmaps", named(name))
	}
}

// serveAt makes a server's API also available at the address of a closed server.
func serveAt(t *testing.T, server, closed *lwtest.Server) {
	var listener net.Listener
	eventually(t, "the port", func() (ok bool) { // a client's ephemeral port can block the address briefly
		var err error
		listener, err = net.Listen("tcp", strings.TrimPrefix(closed.URL, "http://"))
		return err == nil
	})
	front := httptest.NewUnstartedServer(server)
	require.NoError(t, front.Listener.Close())
	front.Listener = listener
	front.Start()
	t.Cleanup(func() {
		server.Close() // ends WebSockets, for which front.Close would wait
		front.CloseClientConnections()
		front.Close()
	})
}

// A server is closed, and another one starts on the same port. The output must show which objects were deleted and
// added.
func TestFollowsRebuiltServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after int      // number of unrelated changes before the ConfigMaps are created
		names         []string // ConfigMaps on the rebuilt server
		flags         []string
	}{
		"lower resourceVersions":    {before: 100, names: []string{"a", "c"}},
		"higher resourceVersions":   {after: 100, names: []string{"a", "c"}},
		"empty":                     {before: 100},
		"the same resourceVersions": {names: []string{"a", "b"}},
		"over WebSocket":            {names: []string{"a", "b"}, flags: []string{"--transport", "ws"}},
		"only metadata":             {names: []string{"a", "b"}, flags: []string{"--metadata-only"}},
		"resumed":                   {names: []string{"a", "b"}, flags: []string{"--resume", filepath.Join(t.TempDir(), "state")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, rebuilt := start(t, nil), start(t, nil)
			fill(t, old, c.before, "a", "b")
			fill(t, rebuilt, c.after, c.names...)
			args := append([]string{"-s", old.URL, "cm"}, c.flags...)
			listed := ""
			if name == "resumed" { // the run below knows only the names and versions of the objects
				code, out, errs := lwcat(t, append(args, "--once")...)
				require.Equal(t, exitDone, code, errs)
				listed = out
			}
			r := follow(t, listed, args...)
			watching(t, old, r, listed != "")
			old.Close()
			serveAt(t, rebuilt, old)
			r.shows(rebuilt)
			r.stop()
		})
	}
}

// TestTableOfRebuiltServer repeats TestFollowsRebuiltServer with -o wide, which requests Tables instead of ordinary
// objects.
func TestTableOfRebuiltServer(t *testing.T) {
	t.Parallel()
	old, rebuilt := start(t, nil), start(t, nil)
	fill(t, old, 0, "a", "b")
	fill(t, rebuilt, 0, "a", "c")
	r := follow(t, "", "-s", old.URL, "cm", "-o", "wide")
	watching(t, old, r, false)
	old.Close()
	serveAt(t, rebuilt, old)
	eventually(t, "the additions", func() bool {
		return strings.Count(r.out.String(), "ADDED ") == 4 && strings.Count(r.out.String(), "DELETED ") == 2
	})
	r.stop()
}

// If a server has only restarted, lwcat must not list it again, but may send one request with limit=1. With --from,
// lwcat does not know which objects already exist. If it finds such an object, it must not conclude that the server was
// rebuilt.
func TestRestartedServerIsNotListedAgain(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"default", "--resume", "--from"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			server := start(t, nil)
			fill(t, server, 0, "a", "b")
			args := []string{"-s", server.URL, "cm"}
			switch mode {
			case "--resume":
				args = append(args, "--resume", filepath.Join(t.TempDir(), "state"))
				code, _, errs := lwcat(t, append(args, "--once")...)
				require.Equal(t, exitDone, code, errs)
				eventually(t, "the end of the first run's watch", func() bool { return len(server.Open(lwtest.Watches)) == 0 })
			case "--from":
				version, _ := server.State("configmaps")
				args = append(args, "--from", version)
			}
			r := follow(t, "", args...)
			watching(t, server, r, mode != "default")
			before := len(server.Requests(nil))
			server.Close()
			require.NoError(t, server.Restart())
			watching(t, server, r, true)
			create(t, server, "configmaps", named("c"))
			eventually(t, "the new object", func() bool { return strings.Contains(r.out.String(), `"c"`) })
			checks := 0
			for _, request := range server.Requests(nil)[before:] {
				query := request.URL.Query()
				if query.Get("limit") == "1" {
					checks++
				} else {
					require.NotEmpty(t, query.Get("watch"), "%s", request.URL)
					require.Empty(t, query.Get("sendInitialEvents"), "%s", request.URL)
				}
			}
			require.Equal(t, 1, checks, r.errs.String())
			require.NotContains(t, r.errs.String(), "relist")
			r.stop()
		})
	}
}
