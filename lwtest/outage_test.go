package lwtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

func TestCompactionKeepsCurrentWatches(t *testing.T) {
	s := start(t, nil)
	w := openWatch(t, s.URL+watchConfigMaps)
	_, err := s.Put("nodes", `{"metadata":{"name":"n"}}`)
	require.NoError(t, err)
	s.Compact() // the watch must continue even if it has not noticed the latest revision yet
	fill(t, s, 1)
	w.expect("ADDED cm-1")
}

func TestHistoryLimitsLog(t *testing.T) {
	s := start(t, &Options{history: 2})
	fill(t, s, 5) // writes revisions 2 to 6
	w := openWatch(t, s.URL+watchConfigMaps+"&resourceVersion=3")
	require.Equal(t, "too old resource version: 3 (4)", w.next().Object.Message)
	openWatch(t, s.URL+watchConfigMaps+"&resourceVersion=4").expect("ADDED cm-4", "ADDED cm-5")
}

func TestRevisionExpiresLowerResourceVersions(t *testing.T) {
	s := start(t, &Options{Revision: 500})
	require.Equal(t, "500", get(t, s.URL+configMaps).list(t).Metadata.ResourceVersion)
	w := openWatch(t, s.URL+watchConfigMaps+"&resourceVersion=499")
	require.Equal(t, "too old resource version: 499 (500)", w.next().Object.Message)
	w = openWatch(t, s.URL+watchConfigMaps+"&resourceVersion=500")
	require.Equal(t, "501", put(t, s, configMap("a", "1")).GetResourceVersion())
	w.expect("ADDED a")
}

func TestSlowReadersAreDisconnected(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(_ context.Context, network, addr string) (net.Conn, error) {
			conn, err := net.Dial(network, addr)
			if err == nil {
				err = conn.(*net.TCPConn).SetReadBuffer(256 << 10)
			}
			return conn, err
		},
	}}
	defer client.CloseIdleConnections()
	res, err := client.Get(s.URL + watchConfigMaps)
	require.NoError(t, err)
	defer res.Body.Close()
	const events, size = 14, 700 << 10 // together larger than the server's socket buffer
	for i := range events {
		put(t, s, configMap("a", fmt.Sprint(i, strings.Repeat("x", size))))
	}
	s.Compact()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err, "the server must close the watch cleanly")
	require.Less(t, strings.Count(string(body), "\n"), events)
	require.NotContains(t, string(body), `"ERROR"`)
	require.True(t, strings.HasSuffix(string(body), "}\n"), "the last event must be complete")
}

func TestCloseWatchesEndsThemCleanly(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 1)
	w := openWatch(t, s.URL+watchConfigMaps)
	w.expect("ADDED cm-1")
	s.CloseWatches()
	require.NoError(t, w.end())
	openWatch(t, s.URL+watchConfigMaps).expect("ADDED cm-1")
}

func TestDropConnectionsResetsStreams(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 1)
	w := openWatch(t, s.URL+watchConfigMaps)
	w.expect("ADDED cm-1")
	s.DropConnections()
	err := w.end()
	require.Error(t, err)
	require.True(t, errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.ErrUnexpectedEOF), "%v", err)
	require.Equal(t, http.StatusOK, get(t, s.URL+configMaps).Code)
}

func TestStopAndRestart(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 2)
	w := openWatch(t, s.URL+watchConfigMaps)
	w.expect("ADDED cm-1", "ADDED cm-2")
	s.Close()
	require.Error(t, w.end())
	_, err := rawRequest(t.Context(), http.MethodGet, s.URL+configMaps, "")
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	put(t, s, configMap("cm-3", "during the outage"))

	url := s.URL
	require.NoError(t, s.Restart())
	require.Equal(t, url, s.URL)
	require.Len(t, get(t, s.URL+configMaps).list(t).Items, 3)
	w = openWatch(t, s.URL+watchConfigMaps+"&resourceVersion=3")
	require.Equal(t, "too old resource version: 3 (4)", w.next().Object.Message)
	openWatch(t, s.URL+watchConfigMaps+"&resourceVersion=4")
	s.Close()
	require.NoError(t, s.Restart(), "a second restart must succeed")
}

func TestRestartFailsWithoutStop(t *testing.T) {
	s := start(t, nil)
	require.EqualError(t, s.Restart(), "restart the test API server: it is still running (call Close first)")
}

func TestFailWithoutFaultPanics(t *testing.T) {
	s := start(t, nil)
	require.PanicsWithValue(t, "lwtest: Fail requires a non-nil Fault", func() { s.Fail(nil, 1, nil) })
}

func TestRestartReopensTCPListener(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := start(t, &Options{Listener: listener})
	s.Close()
	require.NoError(t, s.Restart())
	require.Equal(t, http.StatusOK, get(t, "http://"+listener.Addr().String()+configMaps).Code)
}

func TestRestartFailsIfPortIsTaken(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.Close()
	other, err := net.Listen("tcp", strings.TrimPrefix(s.URL, "http://"))
	require.NoError(t, err)
	defer other.Close()
	require.ErrorIs(t, s.Restart(), syscall.EADDRINUSE)
}

func TestStalledWatchesAreSilent(t *testing.T) {
	t.Parallel()
	s := start(t, &Options{BookmarkInterval: time.Millisecond})
	var w *stream
	for stalled := false; !stalled; { // repeats this if a busy machine did not stall the watch before its timeout
		began := time.Now()
		w = openWatch(t, s.URL+watchConfigMaps+"&allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion=1")
		s.StallWatches(true)
		if stalled = time.Since(began) < time.Second; !stalled {
			s.StallWatches(false)
		}
	}
	late := openWatch(t, s.URL+watchConfigMaps)
	fill(t, s, 1)
	silence := time.After(1200 * time.Millisecond) // longer than the bookmark interval and the watch timeout
	for quiet := false; !quiet; {
		select {
		case line, open := <-w.lines:
			require.True(t, open, "the watch must stay open")
			require.Contains(t, line, `"resourceVersion":"1"`, "a watch may receive only a bookmark before it stalls")
		case line := <-late.lines:
			require.Fail(t, "a stalled watch must not receive events", line)
		case <-silence:
			quiet = true
		}
	}
	s.StallWatches(false)
	late.expect("ADDED cm-1")
	for line, open := w.line(); open; line, open = w.line() {
		require.Regexp(t, `"BOOKMARK"|"name":"cm-1"`, line, "the watch may receive only a pending event before it ends")
	}
	require.NoError(t, w.err, "the watch must end cleanly at its timeout")
}

func TestDropsStalledWatch(t *testing.T) {
	s := start(t, nil)
	w := openWatch(t, s.URL+watchConfigMaps)
	s.StallWatches(true)
	s.DropConnections()
	require.Error(t, w.end())
}

func TestBehindAnotherListener(t *testing.T) {
	for _, version := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(version, func(t *testing.T) {
			s := start(t, nil)
			fill(t, s, 1)
			front := httptest.NewUnstartedServer(s)
			front.EnableHTTP2 = version == "HTTP/2.0"
			front.StartTLS()
			defer front.Close()
			open := func() *http.Response {
				res, err := front.Client().Get(front.URL + watchConfigMaps)
				require.NoError(t, err)
				require.Equal(t, version, res.Proto)
				return res
			}
			res := open()
			s.CloseWatches()
			_, err := io.ReadAll(res.Body)
			require.NoError(t, err)

			res = open()
			s.DropConnections()
			_, err = io.ReadAll(res.Body)
			require.Error(t, err)

			s.Close()
			_, err = front.Client().Get(front.URL + configMaps)
			require.Error(t, err)
			require.NoError(t, s.Restart())
			res, err = front.Client().Get(front.URL + configMaps)
			require.NoError(t, err)
			res.Body.Close()
		})
	}
}

func TestCloseEndsRequests(t *testing.T) {
	s, err := Start(nil)
	require.NoError(t, err)
	s.Fail(Lists, -1, Stall())
	got := make(chan error)
	go func() {
		_, err := rawRequest(t.Context(), http.MethodGet, s.URL+configMaps, "")
		got <- err
	}()
	w := openWatch(t, s.URL+watchConfigMaps)
	requireEventually(t, "the server must receive the list request", func() bool { return len(s.Requests(Lists)) == 1 })
	s.Close()
	require.Error(t, <-got)
	require.Error(t, w.end())
	s.Close() // Close may be called again
}

func TestStateAndRevisionAgree(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 2)
	version, objects := s.State("configmaps")
	require.Equal(t, strconv.FormatInt(s.revision(), 10), version)
	require.Len(t, objects, 2)
	o := objects["t/cm-2"]
	require.Equal(t, "3", o.GetResourceVersion())
	require.JSONEq(t, get(t, s.URL+configMaps+"/cm-2").Body, o.Raw())
	require.Panics(t, func() { s.State("nonsense") })
	for _, write := range []func() error{
		func() error { _, err := s.Put("nonsense", "{}"); return err },
		func() error { return s.Delete("nonsense", "", "x") },
		func() error { _, err := s.Put("configmaps", "{"); return err },
		func() error { _, err := s.Put("configmaps", func() {}); return err },
		func() error { _, err := s.Put("configmaps", `{"metadata":1}`); return err },
	} {
		var status *lw.StatusError
		require.ErrorAs(t, write(), &status)
	}
	o, err := s.Put("configmaps", []byte(`{"metadata":{"name":"x"}}`))
	require.NoError(t, err)
	require.Equal(t, "default/x", lw.KeyOf(o).String())
}
