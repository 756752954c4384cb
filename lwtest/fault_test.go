package lwtest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

func TestPredefinedFaults(t *testing.T) {
	retryLater := func(code int, reason string) Fault {
		return Refuse(&lw.StatusError{Code: code, Reason: reason, Message: "later", RetryAfter: 7500 * time.Millisecond})
	}
	tests := map[string]struct {
		fault             Fault
		code              int
		media, retryAfter string
		body              string
	}{
		"500 as JSON": {Refuse(&lw.StatusError{Code: 500, Reason: "InternalError", Message: "boom"}), 500, "application/json", "",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"boom","reason":"InternalError","code":500}`},
		"429 as JSON with Retry-After": {retryLater(429, "TooManyRequests"), 429, "application/json", "7",
			`"message":"later","reason":"TooManyRequests","details":{"retryAfterSeconds":7},"code":429}`},
		"503 as JSON with Retry-After": {retryLater(503, "ServiceUnavailable"), 503, "application/json", "7", `"retryAfterSeconds":7`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := start(t, nil)
			s.Fail(nil, 1, test.fault)
			a := get(t, s.URL+watchConfigMaps)
			require.Equal(t, test.code, a.Code)
			require.Equal(t, test.media, a.Header.Get("Content-Type"))
			require.Equal(t, test.retryAfter, a.Header.Get("Retry-After"))
			require.Contains(t, a.Body, test.body)
			require.Equal(t, http.StatusOK, get(t, s.URL+configMaps).Code, "the fault must apply only once")
		})
	}
}

func TestStalledRequestsGetNoResponse(t *testing.T) {
	s := start(t, nil)
	s.Fail(Lists, 1, Stall())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := rawRequest(ctx, http.MethodGet, s.URL+configMaps, "")
		ended <- err
	}()
	requireEventually(t, "the server must receive the request", func() bool { return len(s.Requests(Lists)) == 1 })
	select {
	case err := <-ended:
		require.Fail(t, "a stalled request must not end", "%v", err)
	case <-time.After(100 * time.Millisecond):
	}
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}

func TestHangUpClosesBeforeTheResponse(t *testing.T) {
	s := start(t, nil)
	s.Fail(nil, -1, hangUp) // all requests, because net/http retries a failed GET request once
	_, err := rawRequest(t.Context(), http.MethodGet, s.URL+configMaps, "")
	require.ErrorIs(t, err, io.EOF)
}

func TestStreamFaults(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 3)
	for name, fault := range map[string]func(int) Fault{"truncated": truncate, "corrupted": corrupt} {
		t.Run(name+" watch", func(t *testing.T) {
			s.Fail(Watches, 1, fault(2))
			w := openWatch(t, s.URL+watchConfigMaps)
			w.expect("ADDED cm-1", "ADDED cm-2")
			line, ok := w.line()
			require.True(t, ok)
			require.False(t, json.Valid([]byte(line)), line)
			require.Equal(t, name == "truncated", strings.HasPrefix(line, `{"type":"ADDED"`))
			require.NoError(t, w.end())
		})
		t.Run(name+" list", func(t *testing.T) {
			s.Fail(Lists, 1, fault(0))
			a := get(t, s.URL+configMaps)
			require.Equal(t, http.StatusOK, a.Code)
			require.False(t, json.Valid([]byte(a.Body)))
		})
	}
}

func truncate(n int) Fault {
	return ReplaceEvent(n, func(event []byte) ([]byte, bool) { return event[:len(event)/2], false })
}

func corrupt(n int) Fault {
	return ReplaceEvent(n, func([]byte) ([]byte, bool) { return []byte("\x1f\x8b this is not JSON }\n"), false })
}

func TestReplacedEventDoesNotEndWatch(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 3)
	s.Fail(Watches, 1, ReplaceEvent(1, func([]byte) ([]byte, bool) { return nil, true }))
	openWatch(t, s.URL+watchConfigMaps).expect("ADDED cm-1", "ADDED cm-3")
}

func TestFaultsApplyToMatchingRequests(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 2)
	refuse := Refuse(&lw.StatusError{Code: 500})
	list, watch := s.URL+configMaps, s.URL+watchConfigMaps+"&timeoutSeconds=1&resourceVersion=x"
	page := list + "?limit=1&continue=" + get(t, list+"?limit=1").list(t).Metadata.Continue
	object := list + "/cm-1"
	tests := map[string]struct {
		match func(Request) bool
		want  []int // expected status codes for list, page, watch and object, in this order
	}{
		"all requests":          {nil, []int{500, 500, 500, 500}},
		"lists only":            {Lists, []int{500, 500, 500, 200}},
		"pages only":            {pages, []int{200, 500, 500, 200}},
		"watches only":          {Watches, []int{200, 200, 500, 200}},
		"custom match function": {func(r Request) bool { return r.Verb == "get" && r.Header.Get("X") == "" }, []int{200, 200, 500, 500}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			stop := s.Fail(test.match, -1, refuse)
			for i, url := range []string{list, page, watch, object} { // the watch is invalid, so the server responds with 500 even without a fault
				require.Equal(t, test.want[i], get(t, url).Code, url)
			}
			stop()
			require.Equal(t, http.StatusOK, get(t, page).Code)
		})
	}
}

func TestFaultsApplyInCallOrder(t *testing.T) {
	s := start(t, nil)
	s.Fail(Lists, 2, Refuse(&lw.StatusError{Code: 500}))
	s.Fail(nil, 1, Refuse(&lw.StatusError{Code: 503}))
	s.Fail(nil, 0, Refuse(&lw.StatusError{Code: 418}))
	var codes []int
	for range 4 {
		codes = append(codes, get(t, s.URL+configMaps).Code)
	}
	require.Equal(t, []int{500, 500, 503, 200}, codes)
}

func TestRequestsAreRecorded(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 2)
	first := get(t, s.URL+configMaps+"?limit=1", "User-Agent", "me/1").list(t)
	get(t, s.URL+configMaps+"?limit=1&continue="+first.Metadata.Continue)
	openWatch(t, s.URL+watchConfigMaps)
	get(t, s.URL+"/version")
	s.Fail(nil, 1, Refuse(&lw.StatusError{Code: 503}))
	request(t, "POST", s.URL+configMaps, "{}")
	require.Len(t, s.Requests(nil), 5, "Requests() must include the failed request")
	require.Len(t, s.Requests(pages), 1)
	require.Len(t, s.Requests(Watches), 1)
	lists := s.Requests(Lists)
	require.Len(t, lists, 2)
	require.Equal(t, "/api/v1/namespaces/t/configmaps?limit=1", lists[0].URL.String())
	require.Equal(t, "me/1", lists[0].Header.Get("User-Agent"))
	var verbs []string
	for _, r := range s.Requests(nil) {
		verbs = append(verbs, r.Verb)
	}
	require.Equal(t, []string{"list", "list", "watch", "", "create"}, verbs)
}

func TestOldRequestsAreDropped(t *testing.T) {
	s := start(t, nil)
	for range maxRequests + 1 {
		s.record(Request{Request: httptest.NewRequest(http.MethodGet, "/", nil)})
	}
	require.Len(t, s.Requests(nil), maxRequests*9/10+1)
}

// pages reports whether r is a LIST request for a page after the first.
func pages(r Request) bool { return Lists(r) && r.URL.Query().Get("continue") != "" }

// hangUp is a Fault that closes the connection without a response.
func hangUp(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
