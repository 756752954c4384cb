package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/internal/sample"
)

// The ways in which a server gives a collection, as its URLs begin.
const (
	oneBody  = "/body"
	streamed = "/stream"
)

const version = "2000000"

// address is where a server is found.
type address struct {
	URL   string
	Bytes map[string]float64 // how large answers are, by their keys
}

// serve runs until standard input ends, which it does with the process that started this one.
func serve(pods string) {
	n, err := strconv.Atoi(pods)
	measure.Must(err)
	found := address{Bytes: map[string]float64{}}
	all := bodies(sample.Pods(1, n))
	for key, body := range all {
		found.Bytes[key] = float64(len(body))
	}
	mux := http.NewServeMux()
	mux.HandleFunc(oneBody+"/api/v1/pods", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.FormValue("sendInitialEvents") != "":
			refuse(w)
		case r.FormValue("watch") != "":
			send(w, r, nil)
		default:
			protobuf := strings.HasPrefix(r.Header.Get("Accept"), runtime.ContentTypeProtobuf)
			w.Header().Set("Content-Type", runtime.ContentTypeJSON)
			if protobuf {
				w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
			}
			_, _ = w.Write(all[key(oneBody, protobuf)])
		}
	})
	mux.HandleFunc(streamed+"/api/v1/pods", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("sendInitialEvents") != "true" {
			panic("a list was asked for where there are streaming ones")
		}
		send(w, r, all[key(streamed, false)])
	})
	found.URL = httptest.NewServer(mux).URL
	measure.Say(found)
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// key names a body.
func key(from string, protobuf bool) string {
	if protobuf {
		return from + " as protobuf"
	}
	return from
}

// bodies serializes the Pods in all forms.
func bodies(pods []sample.Pod) map[string][]byte {
	list := []byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"` + version + `"},"items":[`)
	var events []byte
	typed := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: version}}
	for i, pod := range pods {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, pod.Item()...)
		events = append(events, pod.Event("ADDED")...)
		typed.Items = append(typed.Items, corev1.Pod{})
		measure.Must(runtime.DecodeInto(scheme.Codecs.UniversalDeserializer(), []byte(pod.JSON()), &typed.Items[i]))
	}
	list = append(list, "]}\n"...)
	events = append(events, `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"`+version+
		`","annotations":{"k8s.io/initial-events-end":"true"}}}}`+"\n"...)
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	binary, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion), typed)
	measure.Must(err)
	return map[string][]byte{
		key(oneBody, false):  list,
		key(oneBody, true):   binary,
		key(streamed, false): events,
	}
}

// refuse says what a server says that knows no streaming lists.
func refuse(w http.ResponseWriter) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(http.StatusUnprocessableEntity)
	fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Invalid","code":422,`+
		`"message":"sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"}`)
}

// send begins a watch, whose first events are given, and in which nothing happens after them.
func send(w http.ResponseWriter, r *http.Request, events []byte) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	_, _ = w.Write(events)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}
