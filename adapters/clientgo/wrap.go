package clientgo

import (
	"context"
	"errors"
	"net/http"
)

// WrapHTTPClient returns a copy of client for use in a clientset. Informers of this package need a ListerWatcher whose
// clientset uses such a copy. The copy sends the same requests as client.
func WrapHTTPClient(client *http.Client) *http.Client {
	wrapped := *client
	if _, ok := wrapped.Transport.(*tap); !ok {
		if wrapped.Transport == nil {
			wrapped.Transport = http.DefaultTransport
		}
		wrapped.Transport = &tap{next: wrapped.Transport, client: *client}
	}
	return &wrapped
}

// tap is an [http.RoundTripper]. If the context of a request contains a recording, tap stores the request in the
// recording instead of sending it.
type tap struct {
	next   http.RoundTripper
	client http.Client // copy of the client that was passed to WrapHTTPClient
}

// recording is a context value. It stores a request that is not sent, together with the HTTP client of the
// request.
type recording struct {
	request *http.Request
	client  http.Client
}

type recordingKey struct{}

// errRecorded is returned for a request that was recorded instead of sent.
var errRecorded = errors.New("clientgo: the request was recorded")

func record(ctx context.Context, r *recording) context.Context {
	return context.WithValue(ctx, recordingKey{}, r)
}

func (t *tap) RoundTrip(request *http.Request) (*http.Response, error) {
	if r, ok := request.Context().Value(recordingKey{}).(*recording); ok {
		r.request, r.client = request, t.client
		return nil, errRecorded
	}
	return t.next.RoundTrip(request)
}

// WrappedRoundTripper returns the wrapped RoundTripper. Libraries that inspect transports call it.
func (t *tap) WrappedRoundTripper() http.RoundTripper { return t.next }

// CloseIdleConnections closes idle connections of the wrapped client. [http.Client.CloseIdleConnections] calls it.
func (t *tap) CloseIdleConnections() { t.client.CloseIdleConnections() }
