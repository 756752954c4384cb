package serve

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

const (
	allPods   = "/api/v1/pods"
	watching  = "?watch=1&resourceVersion=0"
	streaming = "?watch=1&sendInitialEvents=true"
)

// event is a watch event.
type event struct {
	Type   string
	Object struct {
		Metadata struct{ Name, Namespace, ResourceVersion string }
	}
}

func (e event) String() string { return e.Type + " " + e.Object.Metadata.ResourceVersion }

func start(t *testing.T, c Config) (server *Server, url string) {
	server = New(c)
	listening := httptest.NewServer(server)
	t.Cleanup(listening.Close)
	t.Cleanup(listening.CloseClientConnections)
	return server, listening.URL
}

func open(t *testing.T, url, accept string) *http.Response {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	request.Header.Set("Accept", accept)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// watch opens a watch and returns a function that reads the next n events.
func watch(t *testing.T, url string) func(n int) []event {
	events := json.NewDecoder(open(t, url, "application/json").Body)
	return func(n int) []event {
		all := make([]event, n)
		for i := range all {
			require.NoError(t, events.Decode(&all[i]))
		}
		return all
	}
}

func (s *Server) mustOrder(t *testing.T, query string) {
	response := httptest.NewRecorder()
	s.ServeOrder(response, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/order?"+query, nil))
	require.Equal(t, http.StatusOK, response.Code, response.Body)
}

func TestListsAllPods(t *testing.T) {
	_, url := start(t, Config{Pods: 3, Protobuf: true})
	for _, mediaType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		response := open(t, url+allPods, mediaType)
		require.Equal(t, mediaType, response.Header.Get("Content-Type"))
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		var list corev1.PodList
		require.NoError(t, runtime.DecodeInto(scheme.Codecs.UniversalDeserializer(), body, &list))
		require.Len(t, list.Items, 3)
		require.Equal(t, fmt.Sprint(First), list.ResourceVersion)
	}
	require.Equal(t, http.StatusUnprocessableEntity, open(t, url+allPods+streaming, "").StatusCode)
}

func TestStreamingListsEndWithABookmark(t *testing.T) {
	for _, c := range []Config{{Pods: 3, Streaming: true}, {Pods: 3, Templates: 2, Streaming: true, Batch: 8}} {
		_, url := start(t, c)
		events := watch(t, url+allPods+streaming)(4)
		for _, one := range events[:3] {
			require.Equal(t, "ADDED", one.Type)
		}
		require.Equal(t, fmt.Sprint("BOOKMARK ", First), events[3].String())
	}
}

func TestEventsHaveConsecutiveResourceVersionsInEveryWatch(t *testing.T) {
	server, url := start(t, Config{Pods: 7, Changed: 7, Batch: 4})
	first := watch(t, url+allPods+watching)
	server.mustOrder(t, "events=30&period=0s")
	events := first(30)
	server.mustOrder(t, "events=3&period=1ns")
	events = append(events, first(3)...)
	for i, one := range events {
		require.Equal(t, fmt.Sprint("MODIFIED ", First+i+1), one.String())
	}
	require.Equal(t, events[0].Object.Metadata.Name, events[7].Object.Metadata.Name, "the events must change the Pods in turn")

	second := watch(t, url+allPods+watching)
	server.mustOrder(t, "events=1&period=0s")
	require.Equal(t, fmt.Sprint("MODIFIED ", First+1), second(1)[0].String(), "a later client must receive the same resourceVersions")
	require.Equal(t, fmt.Sprint("MODIFIED ", First+34), first(1)[0].String())
}

func TestProtobufEvents(t *testing.T) {
	server, url := start(t, Config{Pods: 2, Changed: 2, Protobuf: true})
	response := open(t, url+allPods+watching, runtime.ContentTypeProtobuf)
	server.mustOrder(t, "events=2&period=0s")
	for n := 1; n <= 2; n++ {
		var size uint32
		require.NoError(t, binary.Read(response.Body, binary.BigEndian, &size))
		frame := make([]byte, size)
		_, err := io.ReadFull(response.Body, frame)
		require.NoError(t, err)
		var event metav1.WatchEvent
		require.NoError(t, event.Unmarshal(frame))
		var pod corev1.Pod
		require.NoError(t, runtime.DecodeInto(scheme.Codecs.UniversalDeserializer(), event.Object.Raw, &pod))
		require.Equal(t, fmt.Sprint("MODIFIED ", First+n), event.Type+" "+pod.ResourceVersion)
	}
}

func TestWebSocketMessages(t *testing.T) {
	server, url := start(t, Config{Changed: 1, Batch: 8})
	conn, response, err := websocket.DefaultDialer.DialContext(t.Context(), strings.Replace(url, "http", "ws", 1)+allPods+watching, nil)
	require.NoError(t, err)
	defer conn.Close()
	defer response.Body.Close()
	server.mustOrder(t, "events=20&period=0s")
	for n := 1; n <= 20; n++ {
		var one event
		require.NoError(t, conn.ReadJSON(&one))
		require.Equal(t, fmt.Sprint(First+n), one.Object.Metadata.ResourceVersion)
	}
}

func TestRejectsInvalidOrders(t *testing.T) {
	response := httptest.NewRecorder()
	New(Config{}).ServeOrder(response, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/order?events=x", nil))
	require.Equal(t, http.StatusBadRequest, response.Code)
}
