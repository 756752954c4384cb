package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/need"
)

// isDriver is an environment variable. If it is set, the test program acts as a driver and runs the reference client,
// so that tests need no separate program.
const isDriver = "LISTWATCH_CONFORMANCE_DRIVER"

// Values of isDriver that select a fault. The client then does not verify certificates, or wastes memory.
const (
	insecure = "insecure"
	wasteful = "wasteful"
)

// waste is the memory that a wasteful client uses.
var waste []byte

func TestMain(m *testing.M) {
	if os.Getenv(isDriver) == "" {
		leak.Main(m)
		return
	}
	// Each request needs a new connection, because the client verifies certificates only in a handshake.
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: os.Getenv(isDriver) == insecure}} //nolint:gosec // a planted fault
	if os.Getenv(isDriver) == wasteful {
		waste = make([]byte, memory+1)
		for i := 0; i < len(waste); i += 4096 {
			waste[i] = 1 // memory counts only once it is used
		}
	}
	d := &reference{http: &http.Client{Transport: transport}, url: os.Args[1]}
	_ = d.run(context.Background(), os.Args[1], os.Stdout)
}

func TestJudgesCommand(t *testing.T) {
	for _, judged := range []struct{ driver, trial, failed string }{
		{"correct", "listing", ""},
		{"", "listing", "exit"},
		{"correct", "https-unknown-authority", ""},
		{insecure, "https-unknown-authority", "trust"},
		{wasteful, "listing", "memory"},
	} {
		if judged.failed == "memory" && runtime.GOOS != "linux" {
			continue // peakRSS needs Linux
		}
		t.Run(judged.driver+" "+judged.trial, func(t *testing.T) {
			t.Parallel()
			s := &settings{hostileFor: time.Second, logs: t.TempDir()}
			c := &client{Name: "driver", Run: []string{os.Args[0], "-test.run=^$"}}
			if judged.driver != "" {
				c = &client{Name: "driver", Run: []string{os.Args[0]}, Env: []string{isDriver + "=" + judged.driver}}
			}
			r, err := s.try(t.Context(), named(t, judged.trial), c)
			require.NoError(t, err)
			require.Equal(t, judged.failed, r.judge().failed, "%v", r.violations())
			require.FileExists(t, filepath.Join(s.logs, "driver, "+judged.trial+".log"))
		})
	}
}

// A script that does not use exec starts its client as a child process. The client must end with the trial, too.
func TestKillsChildProcesses(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, exec.Command(need.Program(t, "mkfifo", "it is a part of coreutils"), fifo).Run())
	ended := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(fifo) // ends when all writers are gone
		ended <- err
	}()
	c := &client{
		// The shell opens the pipe itself, because on a busy machine the trial could end before the child process had opened it.
		Name: "driver", Run: []string{"sh", "-c", `exec 3>"$FIFO"; sleep 600 & exec 3>&-; "$DRIVER" "$@"; true`, "sh"},
		Env: []string{"FIFO=" + fifo, "DRIVER=" + os.Args[0], isDriver + "=correct"},
	}
	r, err := (&settings{hostileFor: time.Second}).try(t.Context(), named(t, "listing"), c)
	require.NoError(t, err)
	require.Empty(t, r.judge().failed, "%v", r.violations())
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		require.Fail(t, "the driver's child process still runs")
	}
}

// The suite creates the folder of -logs, so that a long run does not fail because of it.
func TestLogsShowTheResult(t *testing.T) {
	s := &settings{hostileFor: time.Second, parallel: 1, logs: filepath.Join(t.TempDir(), "new"), only: "listing"}
	t.Setenv(isDriver, "correct")
	require.NoError(t, s.run(t.Context(), []string{os.Args[0]}))
	text, err := os.ReadFile(filepath.Join(s.logs, "driver, listing.log"))
	require.NoError(t, err)
	require.Regexp(t, `(?s)request /api/v1/namespaces/shop/configmaps.* the server behaves correctly\n\S+ the driver's copy is correct\n$`, string(text))
}

func TestRejectsParallelZero(t *testing.T) {
	require.EqualError(t, (&settings{}).run(t.Context(), []string{"driver"}), "-parallel must be at least 1, not 0")
}

func named(t *testing.T, name string) *trial {
	t.Helper()
	trials := all(1)
	i := slices.IndexFunc(trials, func(t *trial) bool { return t.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return trials[i]
}

// Every other handshake gets the wrong certificate until the server behaves.
func TestCertificates(t *testing.T) {
	for kind, reason := range map[string]string{unknownAuthority: "unknown authority", expired: "expired", otherHost: "192.0.2.1", "": ""} {
		folder := t.TempDir()
		g, _, err := front{scheme: "https", wrong: kind}.open(folder)
		require.NoError(t, err)
		server := named(t, "listing").Start()
		_, stop := g.serve(server)
		defer stop()
		trusted, err := os.ReadFile(filepath.Join(folder, "ca.pem"))
		require.NoError(t, err)
		pool := x509.NewCertPool()
		require.True(t, pool.AppendCertsFromPEM(trusted))
		for i, reason := range []string{"", reason, "", reason, "", ""} {
			if i == 4 {
				server.Behave(false)
			}
			conn, err := tls.Dial("tcp", g.Addr().String(), &tls.Config{RootCAs: pool})
			if reason == "" {
				require.NoError(t, err)
				require.NoError(t, conn.Close())
			} else {
				require.ErrorContains(t, err, reason)
			}
		}
	}
}

// Clients such as kubectl request a server's resources before they list one of them.
func TestServesDiscovery(t *testing.T) {
	g, _, err := front{scheme: "http"}.open(t.TempDir())
	require.NoError(t, err)
	url, stop := g.serve(named(t, "mute-all").Start())
	defer stop()
	for path := range discovery {
		response, err := http.Get(url + path) //nolint:noctx // the server answers at once
		require.NoError(t, err)
		require.Equal(t, "application/json", response.Header.Get("Content-Type"))
		require.NoError(t, response.Body.Close())
	}
}

// If a program that a client needs is missing, the suite skips the client. In continuous integration, it fails instead.
func TestSkipsMissingClients(t *testing.T) {
	file := filepath.Join(t.TempDir(), "clients.json")
	require.NoError(t, os.WriteFile(file, []byte(`[{"name": "a", "needs": ["false"], "install": "apt-get install a"}, {"name": "b", "needs": ["true"]}]`), 0o600))
	t.Setenv("LISTWATCH_CI", "")
	clients, err := (&settings{clients: file}).read(nil)
	require.NoError(t, err)
	require.True(t, clients[0].missing)
	require.False(t, clients[1].missing)
	t.Setenv("LISTWATCH_CI", "1")
	_, err = (&settings{clients: file}).read(nil)
	require.ErrorContains(t, err, "apt-get install a")
}

func TestTrialsHaveUniqueNames(t *testing.T) {
	names := map[string]bool{}
	for _, one := range all(1) {
		require.False(t, names[one.Name], one.Name)
		names[one.Name] = true
	}
	require.Greater(t, len(names), 80)
	for name := range deadlines {
		require.Contains(t, names, name)
	}
	for name := range excused {
		require.Contains(t, names, name)
	}
}

// Every note must match a trial. Otherwise, a note could describe a failure that no longer exists, and hide that the
// client has improved.
func TestNotesMatchTrials(t *testing.T) {
	t.Setenv("LISTWATCH_CI", "") // this test runs no client, so none must be installed
	clients, err := (&settings{clients: "clients.json"}).read(nil)
	require.NoError(t, err)
	var known []string
	for _, p := range properties {
		known = append(known, p.Name)
	}
	for _, c := range clients {
		for _, n := range c.Notes {
			require.NotEmpty(t, n.Says)
			for part := range strings.SplitSeq(n.Trials, "|") {
				require.True(t, slices.ContainsFunc(all(1), func(one *trial) bool {
					return regexp.MustCompile("^(" + part + ")$").MatchString(one.Name)
				}), "%s: %s", c.Name, part)
			}
			for part := range strings.SplitSeq(n.Property, "|") {
				require.Contains(t, known, part)
			}
		}
	}
}

func TestReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "doc.md")
	require.NoError(t, os.WriteFile(file, []byte("before\n"+beginMark+"old"+endMark+"\nafter\n"), 0o600))
	clients := []*client{
		{Name: "ours", Ours: true, WebSocket: true, Notes: []note{{Trials: "stream.*", Property: "lost|exit", Says: "Because."}}},
		{Name: "other"},
	}
	trials := append(all(1)[:2], named(t, "ws-listing"))
	found := results{
		"ours":  {"streaming": {ran: true, failed: "lost"}, "listing": {ran: true, failed: "exit"}},
		"other": {"streaming": {ran: true, failed: "lost"}},
	}
	require.NoError(t, (&settings{seed: 7, command: "run"}).write(file, clients, trials, found))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, part := range []string{
		"before\n" + beginMark, endMark + "\nafter\n", "seed 7 and the command `run`.", "| ours | this version | 0 | 2 | 1 |", "| other | this version | 0 | 1 | 2 |",
		"with streaming lists | lost (1) | not checked |", "with paginated lists | exit | skipped |", "over WebSocket, responds correctly, with paginated lists | skipped | not supported |", "\n1. Because.\n",
	} {
		require.Contains(t, string(text), part)
	}
	require.NotContains(t, string(text), "old")
}
