package hostile

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// errReset is the error of a request in memory if the server breaks the connection.
var errReset = errors.New("connection reset by peer")

// response is the [http.ResponseWriter] for a request that is served in memory.
type response struct {
	*io.PipeWriter // the body
	header         http.Header
	started        chan int // receives the status code; closed without one if the connection breaks first
}

func (r *response) Header() http.Header { return r.header }

func (r *response) WriteHeader(code int) { r.started <- code }

// received is the body of a response that was served in memory. Closing it ends the request.
type received struct {
	*io.PipeReader
	end func() // cancels the request's context, like a closed connection
}

func (r received) Close() error {
	r.end()
	return r.PipeReader.Close()
}

// RoundTrip implements [http.RoundTripper]. It handles the request in a separate goroutine, without a network, so that a
// synctest bubble can simulate the time.
func (s *Server) RoundTrip(request *http.Request) (*http.Response, error) {
	client := request.Context()
	ctx, cancel := context.WithCancel(client)
	reader, writer := io.Pipe()
	w := &response{writer, http.Header{}, make(chan int, 1)}
	context.AfterFunc(client, func() { _ = writer.CloseWithError(context.Cause(client)) })
	s.open.Add(1) // until the client closes the body; respond counts its own work separately
	end := sync.OnceFunc(func() {
		cancel()
		s.open.Add(-1)
	})
	go func() {
		defer close(w.started)
		if s.respond(w, request.WithContext(ctx)) {
			_ = writer.Close()
		} else {
			_ = writer.CloseWithError(errReset)
		}
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
