package lwtest

import (
	"errors"
	"fmt"
	"net"
	"time"
)

// Compact makes every resource version below the present one too old. Open watches that have kept up go on; one that lags
// behind ends without a reason.
func (s *Server) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.Compact(s.log.Revision())
	s.wake()
}

// CloseWatches ends all open watches cleanly and without a reason, as an apiserver does now and then.
func (s *Server) CloseWatches() {
	for _, request := range s.underWay() {
		if Watches(request.request) {
			request.cancel(errWatchesClosed)
		}
	}
}

// StallWatches(true) makes all watches fall silent, the open ones and those to come: they stay open, but neither events nor
// bookmarks nor the end at their deadline come through, as if a middlebox had died. StallWatches(false) lets them go on
// where they were. Over WebSocket pings have no answer meanwhile.
func (s *Server) StallWatches(stall bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalled = stall
	s.wake()
}

// DropConnections resets all open connections, in the middle of whatever they carry. New ones are welcome at once. Of
// connections that another listener accepted, only those with a request under way are closed.
func (s *Server) DropConnections() {
	// Who is dropped may be back before the rest are, and is not to be dropped again: what there is to drop is settled
	// first.
	requests := s.underWay()
	var conns []net.Conn
	s.conns.Range(func(conn, _ any) bool {
		conns = append(conns, conn.(net.Conn))
		return true
	})
	for _, conn := range conns {
		if tcp, ok := conn.(*net.TCPConn); ok {
			tcp.SetLinger(0) // close sends RST instead of FIN
		}
		conn.Close()
	}
	for _, request := range requests {
		request.cancel(errDropped)
	}
}

// Stop ends the server like kill -9: connections break off and new ones are refused. The data stay; the Go methods go on
// working on them. It returns when nothing is served any more.
func (s *Server) Stop() {
	s.mu.Lock()
	s.down = true
	srv := s.http
	s.mu.Unlock()
	srv.Close() // the listener first: who is cut off and comes back at once must be refused
	s.conns.Range(func(conn, _ any) bool {
		conn.(net.Conn).Close() // the WebSockets, of which srv does not know
		return true
	})
	for _, request := range s.underWay() {
		request.cancel(errDropped)
	}
	s.serving.Wait()
}

func (s *Server) isDown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down
}

// Restart makes a stopped server serve again on the same port. Like a real one that comes back without its watch cache, it
// finds all older resource versions too old. It returns an error if the port is taken and remains so for 5 s, or if the
// server is not stopped.
func (s *Server) Restart() error {
	if !s.isDown() {
		return errors.New("restart the test API server: it is not stopped: call Stop first")
	}
	s.Compact()
	deadline := time.Now().Add(5 * time.Second)
	for {
		ln, err := net.Listen("tcp", s.addr)
		if err == nil {
			s.serve(ln)
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("restart the test API server: %w", err)
		}
		time.Sleep(10 * time.Millisecond) // a client's local port may be in the way for a moment
	}
}
