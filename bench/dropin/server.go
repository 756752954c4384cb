package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

const (
	version    = "2000000"
	firstEvent = 2_000_001 // resourceVersion of the first event
	seed       = 1
)

// server serves Pods as JSON and protobuf. The value of an order is the number of events that each watch must send.
type server struct {
	pods   []sample.Pod
	typed  []corev1.Pod
	lists  map[string][]byte // list responses by media type
	orders *serve.Orders[int]
	open   atomic.Int32 // number of open watches
}

func startServer(pods int) string {
	s := &server{pods: sample.Pods(seed, pods), orders: serve.NewOrders[int]()}
	body := serve.List(s.pods, version)
	var list corev1.PodList
	harness.Must(json.Unmarshal(body, &list))
	s.typed = list.Items
	s.lists = map[string][]byte{
		runtime.ContentTypeJSON:     body,
		runtime.ContentTypeProtobuf: harness.MustGet(runtime.Encode(protobuf(), &list)),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/v1/pods", s.collection)
	mux.HandleFunc("/events", func(_ http.ResponseWriter, r *http.Request) {
		for s.open.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		s.orders.Give(harness.MustGet(strconv.Atoi(r.FormValue("n"))))
	})
	return httptest.NewServer(mux).URL
}

func protobuf() runtime.Encoder {
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	if !ok {
		panic("client-go has no protobuf serializer")
	}
	return scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
}

func (s *server) collection(w http.ResponseWriter, r *http.Request) {
	mediaType := runtime.ContentTypeJSON
	if strings.HasPrefix(r.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
		mediaType = runtime.ContentTypeProtobuf
	}
	switch {
	case r.FormValue("sendInitialEvents") != "":
		serve.RejectStreamingList(w)
	case r.FormValue("watch") != "":
		s.watch(w, r, mediaType)
	default:
		w.Header().Set("Content-Type", mediaType)
		_, _ = w.Write(s.lists[mediaType])
	}
}

func (s *server) watch(w http.ResponseWriter, r *http.Request, mediaType string) {
	encode := s.jsonEvents()
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	if mediaType == runtime.ContentTypeProtobuf {
		encode = s.protobufEvents()
		w.Header().Set("Content-Type", runtime.ContentTypeProtobuf+";stream=watch")
	}
	order := s.orders.Next()
	s.open.Add(1)
	defer s.open.Add(-1)
	flush := w.(http.Flusher).Flush
	flush()
	for next := firstEvent; ; order = order.Next {
		select {
		case <-r.Context().Done():
			return
		case <-order.Given:
		}
		for range order.Value {
			if _, err := w.Write(encode(next)); err != nil {
				return
			}
			next++
		}
		flush()
	}
}

// jsonEvents returns a function that encodes a MODIFIED event with the given resourceVersion. The returned bytes are
// valid until the next call.
func (s *server) jsonEvents() func(version int) []byte {
	var event []byte
	templates := map[int]serve.Template{}
	return func(version int) []byte {
		n := version % len(s.pods)
		template, ok := templates[n]
		if !ok {
			pod := s.pods[n]
			template = serve.NewTemplate(pod.Event("MODIFIED"), fmt.Sprint(pod.ResourceVersion))
			templates[n] = template
		}
		event = template.Append(event[:0], int64(version))
		return event
	}
}

// protobufEvents returns a function that encodes a MODIFIED event with the given resourceVersion. The event is preceded
// by its length.
func (s *server) protobufEvents() func(version int) []byte {
	encoder := protobuf()
	return func(version int) []byte {
		pod := s.typed[version%len(s.typed)]
		pod.ResourceVersion = strconv.Itoa(version)
		object := harness.MustGet(runtime.Encode(encoder, &pod))
		event := metav1.WatchEvent{Type: "MODIFIED", Object: runtime.RawExtension{Raw: object}}
		frame := harness.MustGet(event.Marshal())
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)
	}
}
