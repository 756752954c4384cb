package clientgo

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"
)

// onePod is a fake API server with one Pod. It always responds in JSON, and its watches send no events.
type onePod struct{ header http.Header }

func (p onePod) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	const metadata = `"metadata":{"name":"a","namespace":"shop","uid":"1","resourceVersion":"5"}`
	body := io.Reader(strings.NewReader(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[{` + metadata + `}]}`))
	switch {
	case query.Get("sendInitialEvents") != "":
		return &http.Response{StatusCode: 422, Header: http.Header{}, Body: io.NopCloser(&bytes.Buffer{}), Request: request}, nil
	case query.Get("watch") != "":
		body = &quiet{ctx: request.Context(), end: time.After(5 * time.Minute)}
	}
	return &http.Response{StatusCode: 200, Header: p.header, Body: io.NopCloser(body), Request: request}, nil
}

// quiet is the body of a watch that sends no data. It ends cleanly when the channel end receives a value.
type quiet struct {
	ctx context.Context
	end <-chan time.Time
}

func (q *quiet) Read([]byte) (int, error) {
	select {
	case <-q.ctx.Done():
		return 0, q.ctx.Err()
	case <-q.end:
		return 0, io.EOF
	}
}

// TestResyncPeriods also checks that periods below one second are raised to one second, as in client-go.
func TestResyncPeriods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clientset := simulatedClient(t, onePod{http.Header{}}, protobufConfig("http://simulated"))
		lister := cache.NewListWatchFromClient(clientset.CoreV1().RESTClient(), "pods", "", fields.Everything())
		informer := NewSharedIndexInformer(lister, &corev1.Pod{}, 3*time.Second, nil)
		var mu sync.Mutex
		updates := map[string]int{}
		for name, add := range map[string]func(cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error){
			"default": informer.AddEventHandler,
			"short": func(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
				return informer.AddEventHandlerWithResyncPeriod(h, time.Millisecond)
			},
			"never": func(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
				return informer.AddEventHandlerWithResyncPeriod(h, 0)
			},
		} {
			_, err := add(cache.ResourceEventHandlerFuncs{UpdateFunc: func(old, obj any) {
				require.Same(t, old, obj)
				mu.Lock()
				defer mu.Unlock()
				updates[name]++
			}})
			require.NoError(t, err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			informer.RunWithContext(ctx)
		}()
		<-informer.HasSyncedChecker().Done()
		time.Sleep(12*time.Second + 500*time.Millisecond)
		synctest.Wait()
		stop()
		<-ended
		require.Equal(t, map[string]int{"default": 4, "short": 12}, updates)
	})
}
