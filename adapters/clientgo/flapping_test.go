package clientgo

import (
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

var errReset = errors.New("connection reset by peer")

// flapping is a proxy that resets each connection after a random time of at most 20 seconds.
type flapping struct {
	next http.RoundTripper

	mu      sync.Mutex
	random  *rand.Rand
	correct bool
}

// behave makes the connections reliable from now on. It does nothing if f is nil.
func (f *flapping) behave() {
	if f != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.correct = true
	}
}

func (f *flapping) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := f.next.RoundTrip(request)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil || f.correct {
		return response, err
	}
	body := response.Body
	reader, writer := io.Pipe()
	reset := time.AfterFunc(time.Duration(f.random.Int64N(int64(20*time.Second))), func() { _ = writer.CloseWithError(errReset) })
	go func() {
		_, err := io.Copy(writer, body)
		reset.Stop()
		_ = writer.CloseWithError(err)
	}()
	response.Body = &flappingBody{reader, body}
	return response, nil
}

type flappingBody struct {
	*io.PipeReader
	inner io.Closer
}

func (b *flappingBody) Close() error {
	return errors.Join(b.PipeReader.Close(), b.inner.Close())
}
