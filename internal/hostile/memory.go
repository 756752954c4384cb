package hostile

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// response is the [http.ResponseWriter] for a request that is served in memory.
type response struct {
	header  http.Header
	body    *io.PipeWriter
	started chan int // receives the status code; closed without one if the connection breaks first
	once    sync.Once
}

func (r *response) Header() http.Header { return r.header }

func (r *response) WriteHeader(code int) { r.once.Do(func() { r.started <- code }) }

func (r *response) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

// Flush implements [http.Flusher]. It does nothing, because bytes reach the client at once.
func (r *response) Flush() {}

// received is the body of a response that was served in memory.
type received struct {
	*io.PipeReader
	end func()
}

func (r received) Close() error {
	r.end()
	return r.PipeReader.Close()
}

// RoundTrip implements [http.RoundTripper]. It handles the request in a separate goroutine.
func (s *Server) RoundTrip(request *http.Request) (*http.Response, error) {
	client := request.Context()
	ctx, cancel := context.WithCancel(client)
	reader, writer := io.Pipe()
	w := &response{header: http.Header{}, body: writer, started: make(chan int, 1)}
	context.AfterFunc(client, func() { _ = writer.CloseWithError(context.Cause(client)) })
	s.open.Add(1)
	end := sync.OnceFunc(func() {
		cancel()
		s.open.Add(-1)
	})
	go func() {
		defer close(w.started)
		defer func() {
			switch reason := recover(); reason {
			case nil:
				_ = writer.Close()
			case http.ErrAbortHandler:
				_ = writer.CloseWithError(errReset)
			default:
				panic(reason)
			}
		}()
		s.ServeHTTP(w, request.WithContext(ctx))
	}()
	err := errReset
	select {
	case code, ok := <-w.started:
		if ok {
			return &http.Response{StatusCode: code, Header: w.header, Body: received{reader, end}, Request: request}, nil
		}
	case <-client.Done():
		err = context.Cause(client)
	}
	end()
	return nil, err
}
