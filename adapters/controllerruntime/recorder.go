package controllerruntime

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// recorder is an [http.RoundTripper] that records the writes of a client. It records HTTP requests instead of calls of
// the client's methods, because all kinds of writes look alike as requests. Besides, the client's methods do not return
// the response to a deletion.
type recorder struct {
	client *consistentClient
	next   http.RoundTripper
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet || dryRun(request) {
		return r.next.RoundTrip(request)
	}
	// Record the UIDs before the request, because the event of a deletion may arrive before the response.
	followers := &r.client.reads.followers
	before, stored := followers.completed.Load(), map[*follower]string{}
	for f, to := range r.targets(request) {
		stored[f], _ = f.progress.UID(to.key.Namespace, to.key.Name)
	}
	response, err := r.next.RoundTrip(request)
	if err != nil || response.StatusCode/100 != 2 {
		return response, err // reads do not wait for failed writes, even if the server performed one of them
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))

	// If the response has no resourceVersion or cannot be decoded, the result of the write is unknown. A deletion is an
	// exception, because its response usually contains only a Status. If a deletion returns the object, for example
	// because of a finalizer, the object has the resourceVersion of the resulting event.
	var object metav1.PartialObjectMetadata
	_ = decode(body, &object)
	w, uid := write{number: followers.completed.Add(1), version: object.ResourceVersion}, object.UID
	deletion := request.Method == http.MethodDelete
	switch {
	case deletion && w.version == "":
		var status metav1.Status
		if w.absent = decode(body, &status) == nil; status.Details != nil {
			uid = status.Details.UID
		}
	case !deletion && object.DeletionTimestamp != nil && len(object.Finalizers) == 0 && ptr.Deref(object.DeletionGracePeriodSeconds, 0) == 0:
		// An update that removes the last finalizer deletes the object, and returns an older version. During a grace
		// period, the server does not delete the object.
		w.version, w.absent = "", true
	}
	for f, to := range r.targets(request) { // again, because informers may have been added or removed since
		own := w
		to.key.Name = cmp.Or(to.key.Name, object.Name) // a create request has no name; DeleteAllOf is never sent
		switch {
		case to.subresource == "token" || !to.scope.contains(to.key): // a token does not change its ServiceAccount
			continue
		case w.absent && !deletion && f.kind == corev1.SchemeGroupVersion.WithKind("Namespace"):
			own.absent = false // the spec of a Namespace may contain more finalizers, so reads ask the server
		case w.absent && !to.scope.filtered(): // with selectors, seen proves nothing, because the object may leave the collection and come back
			own.uid, own.seen = string(uid), uid != "" && stored[f] == string(uid)
		case w.version != "" && to.subresource == "": // a subresource may return another type without the labels, such as Scale
			own.absent = !to.scope.labels.Matches(labels.Set(object.Labels))
		}
		if open := f.record(to.key, own, before); len(open) > 0 {
			if list, err := r.client.list(request.Context(), f, "", ""); err == nil { // after an error, a later write tries again
				f.bound(open, list.ResourceVersion)
			}
		}
	}
	return response, nil
}

// targets returns the informers that follow the resource of a request, with the object that the request addresses.
func (r *recorder) targets(request *http.Request) map[*follower]target {
	targets := map[*follower]target{}
	for _, f := range r.client.reads.followers.find(func(*follower) bool { return true }) {
		if scope, err := f.selected(request.Context()); err == nil { // otherwise, the informer has not requested its first list, which will contain the write; see firstLists
			if to, ok := scope.target(request.URL.Path); ok {
				targets[f] = to
			}
		}
	}
	return targets
}

// dryRun reports whether a request is a dry run. A deletion may specify that in its body instead of its query.
func dryRun(request *http.Request) bool {
	var options metav1.DeleteOptions
	if request.Method == http.MethodDelete && request.GetBody != nil {
		if body, err := request.GetBody(); err == nil {
			data, _ := io.ReadAll(body) // cannot fail, because the body is in memory
			_ = decode(data, &options)
		}
	}
	return len(options.DryRun) > 0 || request.URL.Query().Has("dryRun")
}

// decode decodes an object in JSON or protobuf. Kubernetes begins a protobuf object with k8s\x00, and wraps it in a
// [runtime.Unknown].
func decode(data []byte, into interface{ Unmarshal(data []byte) error }) error {
	message, ok := bytes.CutPrefix(data, []byte("k8s\x00"))
	if !ok {
		return json.Unmarshal(data, into)
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(message); err != nil {
		return err
	}
	return into.Unmarshal(envelope.Raw)
}
