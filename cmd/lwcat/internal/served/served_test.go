package served

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/discovery"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/recording"
	"github.com/stretchr/testify/require"
)

// recordingBuilder writes a recording entry by entry.
type recordingBuilder struct {
	text    strings.Builder
	streams int
}

func newRecordingBuilder() *recordingBuilder {
	t := new(recordingBuilder)
	t.line(map[string]any{"format": "lwcat-recording", "version": 1, "start": time.Now()})
	return t
}

func (t *recordingBuilder) line(v any) { _ = json.NewEncoder(&t.text).Encode(v) }

func (t *recordingBuilder) add(at time.Duration, kind string, members map[string]any) {
	members["at"], members["kind"] = int64(at), kind
	t.line(members)
}

func (t *recordingBuilder) follow(c recording.Collection) {
	t.add(0, "follow", map[string]any{"collection": c})
}

// open starts a request. It returns a function that adds to the response and a function that ends it.
func (t *recordingBuilder) open(at time.Duration, path string, watch bool) (say func(at time.Duration, text string), end func(at time.Duration)) {
	t.streams++
	n := t.streams
	t.add(at, "open", map[string]any{"stream": n, "path": path, "watch": watch})
	t.add(at, "opened", map[string]any{"stream": n})
	return func(at time.Duration, text string) {
			t.add(at, "frame", map[string]any{"stream": n, "text": text})
		}, func(at time.Duration) {
			t.add(at, "closed", map[string]any{"stream": n})
		}
}

// list adds a rejected streaming list and a successful list.
func (t *recordingBuilder) list(at time.Duration, path, version string, items ...string) {
	t.streams++
	t.add(at, "open", map[string]any{"stream": t.streams, "path": path, "query": "sendInitialEvents=true", "watch": true})
	rejection := map[string]any{"kind": "status", "status": map[string]any{"Code": 422}}
	t.add(at, "opened", map[string]any{"stream": t.streams, "failure": rejection})
	t.relist(at, path, version, items...)
}

func (t *recordingBuilder) relist(at time.Duration, path, version string, items ...string) {
	say, end := t.open(at, path, false)
	say(at, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"`+version+`"},"items":[`+strings.Join(items, ",")+"]}")
	end(at)
}

func object(kind, name, version string) string {
	return fmt.Sprintf(`{"kind":%q,"apiVersion":"v1","metadata":{"name":%q,"namespace":"t","resourceVersion":%q}}`, kind, name, version)
}

func event(what, object string) string { return `{"type":"` + what + `","object":` + object + "}\n" }

func (t *recordingBuilder) serve(tt *testing.T, apis ...discovery.Resource) *Server {
	recorded, err := recording.Read(bytes.NewReader([]byte(t.text.String())))
	require.NoError(tt, err)
	require.NoError(tt, recorded.Broken)
	s, skipped, err := New(tt.Context(), recorded, apis)
	require.NoError(tt, err)
	require.Empty(tt, skipped)
	return s
}

func ask(s *Server, method, path string, header ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, "http://127.0.0.1:1"+path, nil)
	for i := 0; i < len(header); i += 2 {
		if request.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			request.Host = header[i+1]
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, request)
	return w
}

// state returns the resourceVersions of a list and its objects.
func state(t *testing.T, s *Server, path string) string {
	t.Helper()
	var list struct {
		Metadata struct{ ResourceVersion string }
		Items    []struct {
			Metadata struct{ Name, ResourceVersion string }
		}
	}
	require.NoError(t, json.Unmarshal(ask(s, "GET", path).Body.Bytes(), &list))
	text := list.Metadata.ResourceVersion + ":"
	for _, item := range list.Items {
		text += " " + item.Metadata.Name + "@" + item.Metadata.ResourceVersion
	}
	return text
}

const pods = "/api/v1/pods"

// busy returns a recording of two collections with interleaved resourceVersions.
func busy() *recordingBuilder {
	t := newRecordingBuilder()
	t.follow(recording.Collection{Version: "v1", Plural: "pods"})
	t.follow(recording.Collection{Version: "v1", Plural: "secrets", Namespace: "t"})
	t.list(time.Second, pods, "50", object("Pod", "a", "40"), object("Pod", "b", "30"))
	say, end := t.open(2*time.Second, pods, true)
	t.list(2*time.Second, "/api/v1/namespaces/t/secrets", "60", object("Secret", "s", "35"))
	say(3*time.Second, event("MODIFIED", object("Pod", "b", "70")))
	say(4*time.Second, event("DELETED", object("Pod", "a", "75")))
	end(5 * time.Second)
	secret, _ := t.open(5*time.Second, "/api/v1/namespaces/t/secrets", true)
	secret(6*time.Second, event("MODIFIED", object("Secret", "s", "65")))
	again, _ := t.open(7*time.Second, pods, true)
	again(7*time.Second, `{"type":"ERROR","object":{"kind":"Status","code":410}}`+"\n")
	t.relist(8*time.Second, pods, "90", object("Pod", "c", "80"))
	last, _ := t.open(9*time.Second, pods, true)
	last(10*time.Second, event("ADDED", object("Pod", "d", "95")))
	return t
}

// TestServesRecordedState checks each collection's state and resourceVersion after every event.
func TestServesRecordedState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := busy().serve(t)
		defer s.Close()
		done := make(chan int)
		go func() {
			frames, err := s.Run(t.Context(), 1)
			require.NoError(t, err)
			done <- frames
		}()
		require.Equal(t, "50: a@40 b@30", state(t, s, pods), "a request waits for the first list")
		for _, want := range []struct{ pods, secrets string }{
			{"50: a@40 b@30", "60: s@35"}, {"70: a@40 b@70", "60: s@35"}, {"75: b@70", "60: s@35"}, {"75: b@70", "60: s@35"},
			{"75: b@70", "65: s@65"}, {"75: b@70", "65: s@65"}, {"90: c@80", "65: s@65"}, {"90: c@80", "65: s@65"}, {"95: c@80 d@95", "65: s@65"},
		} {
			time.Sleep(time.Second)
			synctest.Wait()
			require.Equal(t, want.pods, state(t, s, pods))
			require.Equal(t, want.secrets, state(t, s, "/api/v1/namespaces/t/secrets"))
		}
		require.Equal(t, 8, <-done)
		require.Equal(t, "95: c@80 d@95", state(t, s, pods), "the end stays")
	})
}

// TestInterruptedListIsNotServed checks that a list appears only when it is complete.
func TestInterruptedListIsNotServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tape := newRecordingBuilder()
		tape.follow(recording.Collection{Version: "v1", Plural: "pods"})
		tape.list(0, pods, "50")
		watch, end := tape.open(time.Second, pods, true)
		watch(time.Second, `{"type":"ERROR","object":{"kind":"Status","code":410}}`+"\n")
		end(time.Second)
		half, _ := tape.open(2*time.Second, pods, false)
		half(2*time.Second, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"70"},"items":[`+object("Pod", "a", "65")+",")
		tape.add(3*time.Second, "closed", map[string]any{"stream": tape.streams, "failure": map[string]any{"kind": "other", "text": "reset"}})
		tape.relist(4*time.Second, pods, "80", object("Pod", "a", "65"), object("Pod", "b", "60"))
		s := tape.serve(t)
		defer s.Close()
		go s.Run(t.Context(), 1) // the result does not matter
		require.Equal(t, "50:", state(t, s, pods))
		time.Sleep(3500 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, "50:", state(t, s, pods))
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, "80: a@65 b@60", state(t, s, pods))
	})
}

// TestWatchesRecordedHistory checks watches from the first list's resourceVersion and from an earlier resourceVersion.
func TestWatchesRecordedHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := busy().serve(t)
		defer s.Close()
		_, err := s.Run(t.Context(), 0)
		require.NoError(t, err)
		watch := func(version string) string {
			return ask(s, "GET", pods+"?watch=1&timeoutSeconds=1&resourceVersion="+version).Body.String()
		}
		all := watch("50")
		require.Equal(t, 5, strings.Count(all, "\n"), all)
		for _, want := range []string{`"MODIFIED"`, `"75"`, `"name":"c"`, `"DELETED"`, `"95"`} {
			require.Contains(t, all, want)
		}
		require.Equal(t, 3, strings.Count(watch("75"), "\n"))
		require.Contains(t, watch("49"), `"code":410`)
	})
}

// TestServesDiscovery checks that missing discovery data is derived from the objects.
func TestServesDiscovery(t *testing.T) {
	tape := newRecordingBuilder()
	tape.follow(recording.Collection{Raw: "/apis/x.example.com/v2/namespaces/t/gadgets"})
	tape.list(0, "/apis/x.example.com/v2/namespaces/t/gadgets", "5", object("Gadget", "g", "3"))
	s := tape.serve(t)
	defer s.Close()
	_, err := s.Run(t.Context(), 0)
	require.NoError(t, err)
	resources := ask(s, "GET", "/apis/x.example.com/v2").Body.String()
	require.Contains(t, resources, `"kind":"Gadget"`)
	require.Contains(t, resources, `"namespaced":true`)
	require.NotContains(t, ask(s, "GET", "/api/v1").Body.String(), "pods")
	require.Equal(t, http.StatusNotFound, ask(s, "GET", pods).Code)
	require.Equal(t, "5: g@3", state(t, s, "/apis/x.example.com/v2/namespaces/t/gadgets"))

	tape = newRecordingBuilder()
	tape.follow(recording.Collection{Group: "x.example.com", Version: "v2", Plural: "gadgets"})
	told := tape.serve(t, discovery.Resource{Group: "x.example.com", Version: "v2", Plural: "gadgets", Kind: "Gizmo", ShortNames: []string{"gz"}})
	defer told.Close()
	require.Contains(t, ask(told, "GET", "/apis/x.example.com/v2").Body.String(), `"kind":"Gizmo"`)
	require.Contains(t, ask(told, "GET", "/apis/x.example.com/v2").Body.String(), `"shortNames":["gz"]`)
}

// TestRejectsForeignRequests checks that requests from other origins, for other host names, and for writes are
// rejected.
func TestRejectsForeignRequests(t *testing.T) {
	s := busy().serve(t)
	defer s.Close()
	_, err := s.Run(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, http.StatusMethodNotAllowed, ask(s, "POST", "/api/v1/namespaces/t/pods").Code)
	require.Equal(t, http.StatusForbidden, ask(s, "GET", pods, "Origin", "http://evil.example").Code)
	require.Equal(t, http.StatusForbidden, ask(s, "GET", pods, "Origin", "null").Code)
	require.Equal(t, http.StatusForbidden, ask(s, "GET", pods, "Host", "evil.example:80").Code)
	for _, host := range []string{"localhost:80", "127.0.0.1", "[::1]:80"} {
		require.Equal(t, http.StatusOK, ask(s, "GET", pods, "Host", host, "Origin", "http://"+host).Code, host)
	}
}

func TestReportsUnservedPaths(t *testing.T) {
	tape := newRecordingBuilder()
	tape.follow(recording.Collection{Raw: "/custom"})
	recorded, err := recording.Read(bytes.NewReader([]byte(tape.text.String())))
	require.NoError(t, err)
	_, skipped, err := New(t.Context(), recorded, nil)
	require.ErrorContains(t, err, "no collection")
	require.Equal(t, []string{"/custom"}, skipped)
}
