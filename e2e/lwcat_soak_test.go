package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/need"
)

// TestLwcatSoak runs four lwcat processes while the watched ConfigMaps change and the server fails. Two of the
// processes are interrupted every few seconds and continue with --resume. In the end, the events that each process
// has printed must add up to the server's list.
func TestLwcatSoak(t *testing.T) {
	t.Parallel() // this test uses its own cluster and mostly waits
	node := need.Program(t, "node", "install Node 20 or later, then run: make e2e")
	s := &lwcatSoak{T: t, Cluster: kube.Start(t), lwcat: buildLwcat(t), node: node, folder: t.TempDir()}
	front := httptest.NewServer(s.impatient())
	defer front.Close()
	s.url = front.URL
	var following, writing sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	restarts, last := context.WithCancel(t.Context())
	defer last()
	for _, transport := range []string{"http", "ws"} {
		following.Go(func() { s.follow(ctx, ctx, transport, transport) })
		following.Go(func() {
			s.follow(ctx, restarts, transport+"-resumed", transport, "--resume", filepath.Join(s.folder, transport+".resume"))
		})
	}
	write, calm := context.WithCancel(t.Context())
	defer calm()
	for number := range 4 {
		writing.Go(func() { s.write(write, number) })
	}
	s.accidents()
	calm()
	writing.Wait()
	last()
	want := s.list()
	require.NotEmpty(t, want)
	for _, name := range []string{"http", "http-resumed", "ws", "ws-resumed"} {
		late, cancel := context.WithTimeout(ctx, time.Minute)
		require.NoError(t, kube.Poll(late, name+" to print events that add up to the server's list", func(context.Context) error {
			if got := s.fold(name); got != want {
				return fmt.Errorf("got\n%s\nwant\n%s", got, want)
			}
			return nil
		}))
		cancel()
	}
	stop()
	following.Wait()
	require.Equal(t, want, s.fold("http"), "lwcat must not print an extra line when it is stopped")
	stderr, err := os.ReadFile(filepath.Join(s.folder, "http.err"))
	require.NoError(t, err)
	require.Contains(t, string(stderr), "410 Expired")
	require.Greater(t, s.watches.Load(), int32(24), "watches must end and be reopened every few seconds")
	t.Logf("%d writes, %d watches, %d runs, %d objects", s.writes.Load(), s.watches.Load(), s.runs.Load(), strings.Count(want, "\n"))
}

type lwcatSoak struct {
	*testing.T
	*kube.Cluster
	lwcat, node, folder, url string
	watches, writes, runs    atomic.Int32
}

const soakPath = "/api/v1/namespaces/default/configmaps"

// impatient returns a reverse proxy for the server. It adds a timeout of two to five seconds to each watch, so that
// many watches end cleanly during the test.
func (s *lwcatSoak) impatient() http.Handler {
	to, err := url.Parse(s.URL)
	require.NoError(s, err)
	// Half of the processes watch over WebSocket, whose handshake needs HTTP/1.1.
	over := s.HTTPClient().Transport.(*http.Transport).Clone()
	over.ForceAttemptHTTP2 = false
	over.TLSClientConfig.NextProtos = nil
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			if query := r.Out.URL.Query(); query.Has("timeoutSeconds") {
				s.watches.Add(1)
				query.Set("timeoutSeconds", fmt.Sprint(2+rand.IntN(4)))
				r.Out.URL.RawQuery = query.Encode()
			}
		},
		Transport: over, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
	}
}

// follow runs lwcat until ctx is done. Until the context "restarts" is done, follow interrupts and restarts lwcat every
// 1 to 5 seconds. If ctx and restarts are the same context, lwcat starts only once.
func (s *lwcatSoak) follow(ctx, restarts context.Context, name, transport string, more ...string) {
	out, err := os.Create(filepath.Join(s.folder, name+".out"))
	require.NoError(s, err)
	defer out.Close()
	stderr, err := os.Create(filepath.Join(s.folder, name+".err"))
	require.NoError(s, err)
	defer stderr.Close()
	for over := false; !over; {
		s.runs.Add(1)
		run, cancel := context.WithTimeout(ctx, time.Second+time.Duration(rand.IntN(4000))*time.Millisecond)
		if over = ctx == restarts || restarts.Err() != nil; over {
			cancel()
			run = ctx
		}
		cmd := exec.CommandContext(run, s.lwcat, append([]string{"-s", s.url, "--token", s.AdminToken, "--transport", transport, "-o", "jsonl", soakPath}, more...)...)
		cmd.Stdout, cmd.Stderr = out, stderr
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		_ = cmd.Run() // the exit code is checked below
		cancel()
		if code := cmd.ProcessState.ExitCode(); code != 130 && code != -1 { // -1: the signal killed lwcat before it had installed its signal handler
			s.Errorf("%s exited with code %d", name, code)
			return
		}
	}
}

// write makes a random write every 25 ms until ctx is done. Each writer uses a separate set of 12 objects. Failed
// writes are ignored, because the server may be down.
func (s *lwcatSoak) write(ctx context.Context, number int) {
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		name := fmt.Sprintf("cm-%d-%d", number, rand.IntN(12))
		body := fmt.Sprintf(`{"metadata":{"name":%q},"data":{"k":"%d"}}`, name, rand.Int())
		method, path := http.MethodPut, soakPath+"/"+name
		switch rand.IntN(3) {
		case 0:
			method, path = http.MethodPost, soakPath
		case 1:
			method, body = http.MethodDelete, ""
		}
		if code, _, err := s.Do(context.WithoutCancel(ctx), method, path, "application/json", body); err == nil && code < 300 {
			s.writes.Add(1)
		}
	}
}

// accidents restarts the server, compacts etcd and expires resourceVersions. The environment variable ROUNDS sets the
// number of rounds; the default is 1.
func (s *lwcatSoak) accidents() {
	rounds, err := strconv.Atoi(cmp.Or(os.Getenv("ROUNDS"), "1"))
	require.NoError(s, err, "ROUNDS")
	for range rounds {
		s.accidentsOnce()
	}
}

func (s *lwcatSoak) accidentsOnce() {
	ctx := s.Context()
	restart := func(ctx context.Context) error {
		s.Kill()
		return s.StartAPIServer(ctx)
	}
	for _, happen := range []func(context.Context) error{s.Compact, restart, s.ExpireVersions, s.Compact} {
		time.Sleep(6 * time.Second)
		require.NoError(s, happen(ctx))
	}
	time.Sleep(6 * time.Second)
}

// list returns the server's ConfigMaps in the output format of fold.mjs. Each line contains a namespace, a name and a
// resourceVersion.
func (s *lwcatSoak) list() string {
	_, text, err := s.Do(s.Context(), http.MethodGet, soakPath, "", "")
	require.NoError(s, err)
	var list struct {
		Items []struct {
			Metadata struct{ Name, ResourceVersion string }
		}
	}
	require.NoError(s, json.Unmarshal(text, &list))
	var lines []string
	for _, item := range list.Items {
		lines = append(lines, "default/"+item.Metadata.Name+" "+item.Metadata.ResourceVersion+"\n")
	}
	sort.Strings(lines)
	return strings.Join(lines, "")
}

// fold applies the events that a process has printed and returns the resulting objects in the format of list. If the
// events contradict each other, it returns an error message instead.
func (s *lwcatSoak) fold(name string) string {
	file, err := os.Open(filepath.Join(s.folder, name+".out"))
	require.NoError(s, err)
	defer file.Close()
	cmd := exec.Command(s.node, "fold.mjs")
	cmd.Stdin = file
	text, _ := cmd.CombinedOutput() // if the command fails, text contains the reason
	return string(text)
}
