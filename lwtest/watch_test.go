package lwtest

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/stretchr/testify/require"
)

const watchConfigMaps = configMaps + "?watch=1"

func TestWatchesReportChanges(t *testing.T) {
	s := start(t, nil)
	put(t, s, configMap("before", "1"))
	w := openWatch(t, s.URL+watchConfigMaps+"&resourceVersion="+strconv.FormatInt(s.revision(), 10))
	put(t, s, configMap("a", "1"))
	put(t, s, configMap("a", "2"))
	require.NoError(t, s.Delete("configmaps", "t", "a"))
	for i, want := range []struct{ event, value string }{{"ADDED a", "1"}, {"MODIFIED a", "2"}, {"DELETED a", "2"}} {
		e := w.next()
		require.Equal(t, want.event, e.String())
		require.Equal(t, want.value, e.Object.Data["k"])
		require.Equal(t, strconv.Itoa(3+i), e.Object.Metadata.ResourceVersion, "each event must have its own resourceVersion")
		require.Regexp(t, `^\{"type":"[A-Z]+","object":\{"kind":"ConfigMap","apiVersion":"v1","metadata":\{"name":"a",.*\}\}\n$`, e.line)
	}
}

// On a busy machine, a watch may time out before it starts. It must still report the changes that happened before.
func TestLateWatchesReportEarlierChanges(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 2) // revisions 2 and 3
	res, _ := s.resource("configmaps")
	q, err := newQuery(&view{res: res}, "", url.Values{"watch": {"1"}, "resourceVersion": {"2"}, "timeoutSeconds": {"1"}})
	require.NoError(t, err)
	w, err := s.newWatch(t.Context(), q)
	require.NoError(t, err)
	w.deadline = time.Now()
	frames := 0
	for range w.frames(t.Context()) {
		frames++
	}
	require.Equal(t, 1, frames)
}

func TestWatchHeadersAreSentImmediately(t *testing.T) {
	s := start(t, nil)
	openWatch(t, s.URL+watchConfigMaps) // returns after the response header arrives
}

func TestWatchStartsAtItsResourceVersion(t *testing.T) {
	tests := map[string][]string{ // expected events of each query after fill(3), an update of cm-1 and the deletion of cm-2
		"":                                    {"ADDED cm-1", "ADDED cm-3"},
		"resourceVersion=0":                   {"ADDED cm-1", "ADDED cm-3"},
		"resourceVersion=2":                   {"ADDED cm-2", "ADDED cm-3", "MODIFIED cm-1", "DELETED cm-2"},
		"resourceVersion=5":                   {"DELETED cm-2"},
		"resourceVersion=6":                   nil,
		"fieldSelector=metadata.name%3Dcm-3":  {"ADDED cm-3"},
		"pretty=true&limit=1":                 {"ADDED cm-1", "ADDED cm-3"},
		"watch=false&watch=1":                 nil, // a list, because the first value applies
		"resourceVersion=2&watch=true&limit=": {"ADDED cm-2", "ADDED cm-3", "MODIFIED cm-1", "DELETED cm-2"},
	}
	s := start(t, nil)
	fill(t, s, 3)
	put(t, s, configMap("cm-1", "changed"))
	require.NoError(t, s.Delete("configmaps", "t", "cm-2"))
	streams := map[string]*stream{}
	for query := range tests {
		if query == "watch=false&watch=1" {
			require.Len(t, get(t, s.URL+configMaps+"?"+query).list(t).Items, 2)
			continue
		}
		streams[query] = openWatch(t, s.URL+configMaps+"?watch=1&"+query)
	}
	_, err := s.Put("configmaps", `{"metadata":{"name":"elsewhere","namespace":"u"}}`)
	require.NoError(t, err)
	put(t, s, configMap("cm-3", "last"))
	for query, w := range streams {
		w.expect(tests[query]...)
		w.expect("MODIFIED cm-3")
	}
}

func TestGetByNameIgnoresWatch(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 1)
	require.Equal(t, "cm-1", get(t, s.URL+configMaps+"/cm-1?watch=1").object(t).Metadata.Name)
}

func TestExpiredResourceVersionIsAnErrorEvent(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 3)
	s.Compact()
	w := openWatch(t, s.URL+watchConfigMaps+"&resourceVersion=3")
	require.Equal(t, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",`+
		`"message":"too old resource version: 3 (4)","reason":"Expired","code":410}}`+"\n", w.next().line)
	require.NoError(t, w.end())
	openWatch(t, s.URL+watchConfigMaps+"&resourceVersion=4")
}

func TestRejectedWatches(t *testing.T) {
	s := start(t, nil)
	tests := map[string]struct {
		code    int
		message string
	}{
		"labelSelector=,":               {400, "unable to parse requirement"},
		"fieldSelector=spec.x%3Dy":      {400, "not a known field selector"},
		"timeoutSeconds=x":              {400, "timeoutSeconds"},
		"resourceVersionMatch=Exact":    {422, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"},
		"sendInitialEvents=true":        {422, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
		"sendInitialEvents=true&x=1":    {422, "Forbidden"},
		"resourceVersionMatch=Whatever": {422, `Unsupported value: "Whatever": supported values: "NotOlderThan"`},
		"sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=x": {422, "forbidden when continue is provided"},
	}
	for query, test := range tests {
		a := get(t, s.URL+watchConfigMaps+"&"+query)
		require.Equal(t, test.code, a.Code, query)
		require.Contains(t, a.status(t).Message, test.message)
	}
}

func TestInvalidResourceVersionIs500(t *testing.T) {
	s := start(t, nil)
	a := get(t, s.URL+watchConfigMaps+"&resourceVersion=abc")
	require.Equal(t, http.StatusInternalServerError, a.Code)
	require.Equal(t, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"resourceVersion: Invalid value: \"abc\": `+
		`strconv.ParseUint: parsing \"abc\": invalid syntax","code":500}`+"\n", a.Body)
}

func TestFutureResourceVersionSendsNothing(t *testing.T) {
	t.Parallel()
	s := start(t, &Options{BookmarkInterval: time.Millisecond})
	w := openWatch(t, s.URL+watchConfigMaps+"&resourceVersion=99999&timeoutSeconds=1&allowWatchBookmarks=true")
	fill(t, s, 1)
	require.NoError(t, w.end())
}

func TestWatchEndsAtTimeout(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	began := time.Now()
	w := openWatch(t, s.URL+watchConfigMaps+"&timeoutSeconds=1&resourceVersion=1")
	require.NoError(t, w.end())
	require.GreaterOrEqual(t, time.Since(began), time.Second)
}

func TestSendsBookmarksAtInterval(t *testing.T) {
	s := start(t, &Options{BookmarkInterval: time.Millisecond})
	without := openWatch(t, s.URL+watchConfigMaps+"&resourceVersion=1")
	w := openWatch(t, s.URL+watchConfigMaps+"&resourceVersion=1&allowWatchBookmarks=true")
	require.Equal(t, `{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"1"}}}`+"\n", w.next().line)
	_, err := s.Put("nodes", `{"metadata":{"name":"n"}}`)
	require.NoError(t, err)
	requireEventually(t, "a bookmark must arrive with the new Node's resourceVersion", func() bool {
		e := w.next()
		return e.Type == "BOOKMARK" && e.Object.Metadata.ResourceVersion == "2"
	})
	fill(t, s, 1)
	without.expect("ADDED cm-1")
}

func TestSendsBookmarkBeforeDeadline(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	began := time.Now()
	w := openWatch(t, s.URL+"/apis/lw.example.com/v1/widgets?watch=1&resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=2")
	require.Equal(t, `{"type":"BOOKMARK","object":{"apiVersion":"lw.example.com/v1","kind":"Widget","metadata":{"resourceVersion":"1"}}}`+"\n", w.next().line)
	require.GreaterOrEqual(t, time.Since(began), 2*time.Second-beforeDeadline)
	require.NoError(t, w.end())
	w = openWatch(t, s.URL+watchConfigMaps+"&resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=1")
	require.NoError(t, w.end(), "a one-second watch must end without a bookmark")
}

func TestObjectsThatEnterAndLeaveASelector(t *testing.T) {
	s := start(t, nil)
	w := openWatch(t, s.URL+watchConfigMaps+"&labelSelector=app%3Ddemo")
	const in, out = `"app":"demo"`, `"app":"other"`
	put(t, s, configMap("a", "1", out)) // excluded by the selector
	put(t, s, configMap("a", "2", in))
	put(t, s, configMap("a", "3", in))
	put(t, s, configMap("a", "4", out))
	put(t, s, configMap("a", "5", out)) // excluded by the selector
	require.NoError(t, s.Delete("configmaps", "t", "a"))
	put(t, s, configMap("b", "1", in))
	require.NoError(t, s.Delete("configmaps", "t", "b"))
	for _, want := range []struct{ event, value, version string }{
		{"ADDED a", "2", "3"},
		{"MODIFIED a", "3", "4"},
		{"DELETED a", "3", "5"}, // the previous object with the new resourceVersion
		{"ADDED b", "1", "8"},
		{"DELETED b", "1", "9"},
	} {
		e := w.next()
		require.Equal(t, want.event, e.String())
		require.Equal(t, want.value, e.Object.Data["k"])
		require.Equal(t, want.version, e.Object.Metadata.ResourceVersion)
		require.Equal(t, map[string]string{"app": "demo"}, e.Object.Metadata.Labels)
	}
}

func TestManyEventsArriveInOrder(t *testing.T) {
	s := start(t, nil)
	w := openWatch(t, s.URL+watchConfigMaps)
	go func() {
		for i := range 10 * batchSize {
			s.Put("configmaps", configMap("a", strconv.Itoa(i)))
		}
	}()
	for i := range 10 * batchSize {
		require.Equal(t, strconv.Itoa(i), w.next().Object.Data["k"])
	}
}

const streamingList = watchConfigMaps + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"

func TestStreamingList(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 2)
	s.Compact()
	for _, version := range []string{"", "0", "1", "3"} {
		w := openWatch(t, s.URL+streamingList+"&allowWatchBookmarks=true&resourceVersion="+version)
		w.expect("ADDED cm-1", "ADDED cm-2")
		require.Equal(t, `{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"3",`+
			`"annotations":{"k8s.io/initial-events-end":"true"}}}}`+"\n", w.next().line, "resourceVersion %q", version)
	}
	w := openWatch(t, s.URL+"/apis/lw.example.com/v1/widgets?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")
	require.Equal(t, `{"type":"BOOKMARK","object":{"apiVersion":"lw.example.com/v1","kind":"Widget","metadata":`+
		`{"annotations":{"k8s.io/initial-events-end":"true"},"resourceVersion":"3"}}}`+"\n", w.next().line)
}

// The server behaves like Kubernetes 1.37: each flush ends a gzip member, and only streaming lists are compressed.
func TestCompressedStreamingList(t *testing.T) {
	s := start(t, &Options{CompressStreamingLists: true})
	fill(t, s, 1)
	get := func(url string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+url, nil)
		require.NoError(t, err)
		req.Header.Set("Accept-Encoding", "gzip")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		t.Cleanup(func() { res.Body.Close() })
		return res
	}
	body := bufio.NewReader(get(streamingList + "&allowWatchBookmarks=true").Body)
	zip, err := gzip.NewReader(body)
	for _, want := range []string{`"ADDED".*\n.*"BOOKMARK".*\n$`, `"MODIFIED".*\n$`} {
		require.NoError(t, err)
		zip.Multistream(false)
		member, failure := io.ReadAll(zip)
		require.NoError(t, failure)
		require.Regexp(t, want, string(member))
		put(t, s, configMap("cm-1", want))
		err = zip.Reset(body)
	}
	require.Empty(t, get(watchConfigMaps).Header.Get("Content-Encoding"))
}

func TestStreamingListWithoutBookmarks(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 1)
	w := openWatch(t, s.URL+streamingList)
	w.expect("ADDED cm-1")
	put(t, s, configMap("cm-2", "v"))
	w.expect("ADDED cm-2")
}

func TestWatchesWithoutInitialEventsReportOnlyChanges(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 1)
	w := openWatch(t, s.URL+watchConfigMaps+"&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")
	put(t, s, configMap("cm-2", "v"))
	w.expect("ADDED cm-2")
}

func TestFutureStreamingListIsAnErrorEvent(t *testing.T) {
	s := start(t, &Options{freshnessWait: time.Millisecond})
	w := openWatch(t, s.URL+streamingList+"&allowWatchBookmarks=true&resourceVersion=99")
	e := w.next()
	require.Equal(t, "ERROR", e.Type)
	require.Equal(t, http.StatusGatewayTimeout, e.Object.Code)
	require.NoError(t, w.end())
}

func TestStreamingListsCanBeDisabled(t *testing.T) {
	s := start(t, &Options{NoStreamingLists: true})
	a := get(t, s.URL+streamingList+"&allowWatchBookmarks=true")
	require.Equal(t, http.StatusUnprocessableEntity, a.Code)
	require.Equal(t, `ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: `+
		`sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled`, a.status(t).Message)
}

func TestDeletingAResourceEndsItsWatches(t *testing.T) {
	s := start(t, nil)
	define(t, s, sample.Definition("things.example.com", "v2", "Thing", ""))
	_, err := s.Put("things.example.com", `{"metadata":{"name":"a"}}`)
	require.NoError(t, err)
	url := s.URL + "/apis/example.com/v2/things"
	w := openWatch(t, url+"?watch=1")
	other := openWatch(t, s.URL+watchConfigMaps)
	w.expect("ADDED a")
	definition := openWatch(t, s.URL+"/apis/apiextensions.k8s.io/v1/customresourcedefinitions?watch=1")
	definition.expect("ADDED things.example.com")
	require.NoError(t, s.Delete(definitions, "", "things.example.com"))
	w.expect("DELETED a")
	require.NoError(t, w.end())
	definition.expect("DELETED things.example.com")
	require.Equal(t, "404 page not found\n", get(t, url).Body)
	fill(t, s, 1)
	other.expect("ADDED cm-1")
}

func FuzzListOptions(f *testing.F) {
	s := start(f, &Options{freshnessWait: time.Nanosecond})
	fill(f, s, 3)
	f.Add("a=b,!c", "metadata.name=a", "0", "x")
	f.Add("a in (b,c)", "metadata.name!=a", "18446744073709551615", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiLi4ifQ")
	f.Fuzz(func(t *testing.T, labels, field, version, token string) {
		q := url.Values{"labelSelector": {labels}, "fieldSelector": {field}, "resourceVersion": {version}, "limit": {"1"}, "continue": {token}}
		for _, code := range []int{
			get(t, s.URL+configMaps+"?"+q.Encode()).Code,
			get(t, s.URL+"/apis/"+url.PathEscape(labels)+"/"+url.PathEscape(field)).Code,
		} {
			require.Contains(t, []int{200, 301, 400, 404, 410, 504}, code, fmt.Sprint(q))
		}
	})
}
