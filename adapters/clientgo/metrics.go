package clientgo

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/metrics"
)

// emptyList returns the response to a request that was recorded instead of sent. It must be a success, because
// client-go counts responses, and an error would look like a failing server.
func emptyList(request *http.Request) *http.Response {
	const list = `{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(list)), ContentLength: int64(len(list)), Request: request,
	}
}

// headers is an [http.RoundTripper] that adds the clientset's headers to each request. It also counts the
// requests, as client-go does. Most programs export this metric as rest_client_requests_total.
type headers struct {
	next http.RoundTripper
	want http.Header // headers of the recorded request
	host string      // label of the metric

	// counted is true after the first successful request. That request is not counted, because client-go has already
	// counted the recorded request, although it was never sent.
	counted atomic.Bool
}

func (h *headers) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Del("User-Agent") // the next RoundTripper sets the User-Agent of the rest.Config
	for name, values := range h.want {
		if name != "Accept" && name != "Accept-Encoding" { // package transport/http sets them, because they depend on the request
			request.Header[name] = values
		}
	}
	response, err := h.next.RoundTrip(request)
	code := "<error>"
	if err == nil {
		code = strconv.Itoa(response.StatusCode)
	}
	if code != "200" || !h.counted.CompareAndSwap(false, true) {
		metrics.RequestResult.Increment(request.Context(), code, request.Method, h.host)
	}
	if err != nil {
		return nil, err
	}
	return response, requireProtobuf(request, response)
}

// newMeter returns an empty client-go store, whose only purpose is the metric for the informer's resourceVersion.
// Bookmarks to this store set the metric. Such a store is needed, because only client-go's own stores can reach the
// global provider from [cache.SetInformerMetricsProvider]. Without an identifier, newMeter returns nil.
func newMeter(opts *InformerOptions) cache.Store {
	if !opts.Identifier.Reserved() {
		return nil
	}
	return cache.NewStore(cache.MetaNamespaceKeyFunc, cache.WithStoreMetrics(opts.Identifier, opts.InformerMetricsProvider))
}

// measure updates the metric for the resourceVersion. It must be called whenever the store may have changed: after each
// watch event, and at the start of each request, when the store contains the results of the previous one.
func (i *informer) measure() {
	if i.meter == nil {
		return
	}
	if version := i.LastSyncResourceVersion(); version != "" && version != i.meter.LastStoreSyncResourceVersion() {
		i.meter.Bookmark(version)
	}
}
