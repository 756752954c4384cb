package main

import (
	"net/http"
	"net/http/httptest"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// Base paths of the server. The server rejects streaming lists under asOneBody and requires them under asStream.
const (
	asOneBody = "/body"
	asStream  = "/stream"
)

const version = "2000000"

// address contains the server's URL and the sizes of its response bodies.
type address struct {
	URL   string
	Bytes map[string]float64 // sizes in bytes by body name
}

func startServer(pods int) address {
	all, sizes := bodies(sample.Pods(1, pods)), map[string]float64{}
	for name, body := range all {
		sizes[name] = float64(len(body))
	}
	mux := http.NewServeMux()
	mux.HandleFunc(asOneBody+"/api/v1/pods", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.FormValue("sendInitialEvents") != "":
			serve.RejectStreamingList(w)
		case r.FormValue("watch") != "":
			watch(w, r, nil)
		default:
			protobuf := strings.HasPrefix(r.Header.Get("Accept"), runtime.ContentTypeProtobuf)
			w.Header().Set("Content-Type", runtime.ContentTypeJSON)
			if protobuf {
				w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
			}
			_, _ = w.Write(all[bodyName(asOneBody, protobuf)])
		}
	})
	mux.HandleFunc(asStream+"/api/v1/pods", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("sendInitialEvents") != "true" {
			panic("expected a request for a streaming list")
		}
		watch(w, r, all[bodyName(asStream, false)])
	})
	return address{httptest.NewServer(mux).URL, sizes}
}

func bodyName(path string, protobuf bool) string {
	if protobuf {
		return path + " as protobuf"
	}
	return path
}

// bodies returns the encoded response bodies. The keys are results of bodyName.
func bodies(pods []sample.Pod) map[string][]byte {
	typed := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: version}, Items: make([]corev1.Pod, len(pods))}
	for i, pod := range pods {
		harness.Must(runtime.DecodeInto(scheme.Codecs.UniversalDeserializer(), []byte(pod.JSON()), &typed.Items[i]))
	}
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	encoder := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
	return map[string][]byte{
		bodyName(asOneBody, false): serve.List(pods, version),
		bodyName(asOneBody, true):  harness.MustGet(runtime.Encode(encoder, typed)),
		bodyName(asStream, false):  serve.InitialEvents(pods, version),
	}
}

// watch sends the initial events and keeps the watch open without further events.
func watch(w http.ResponseWriter, r *http.Request, initial []byte) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	_, _ = w.Write(initial)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}
