package clientgo

import (
	"context"
	"errors"
	"net/http"
)

// WrapHTTPClient returns a copy of an HTTP client for a clientset. An informer of this package can use a ListerWatcher
// only if its clientset has such a client. The copy sends the same requests as the original.
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

// tap is a RoundTripper. If the context of a request contains a recording, tap stores the request in it instead of
// sending the request.
type tap struct {
	next   http.RoundTripper
	client http.Client // the HTTP client that WrapHTTPClient returned
}

// recording is a context value that receives a request and the HTTP client that would have sent it.
type recording struct {
	request *http.Request
	client  http.Client
}

type recordingKey struct{}

// errRecorded reports that a request was recorded and not sent.
var errRecorded = errors.New("clientgo: the request was recorded")

func record(ctx context.Context, r *recording) context.Context {
	return context.WithValue(ctx, recordingKey{}, r)
}

// RoundTrip implements [http.RoundTripper].
func (t *tap) RoundTrip(request *http.Request) (*http.Response, error) {
	if r, ok := request.Context().Value(recordingKey{}).(*recording); ok {
		r.request, r.client = request, t.client
		return nil, errRecorded
	}
	return t.next.RoundTrip(request)
}

// WrappedRoundTripper returns the wrapped RoundTripper, for libraries that inspect its type.
func (t *tap) WrappedRoundTripper() http.RoundTripper { return t.next }

// CloseIdleConnections closes idle connections. [http.Client.CloseIdleConnections] calls it.
func (t *tap) CloseIdleConnections() { t.client.CloseIdleConnections() }
