package lwtest

import (
	"errors"
	"fmt"
	"net"
	"time"
)

// Compact expires all older resourceVersions. Open watches that are up to date continue. All other watches end cleanly,
// without an ERROR event.
func (s *Server) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.Compact(s.log.Revision())
	s.wake()
}

// CloseWatches ends all open watches cleanly, as kube-apiserver does from time to time.
func (s *Server) CloseWatches() {
	for _, request := range s.underWay() {
		if Watches(request.request) {
			request.cancel(errWatchesClosed)
		}
	}
}

// StallWatches(true) silences all open and future watches, like a half-open connection. A silent watch stays open even
// after its timeout. It sends no events or bookmarks and does not answer WebSocket pings. StallWatches(false) resumes
// the watches, which then send all missed events.
func (s *Server) StallWatches(stall bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalled = stall
	s.wake()
}

// DropConnections resets all open connections. The server accepts new connections immediately. If the server runs
// behind another listener, idle connections stay open.
func (s *Server) DropConnections() {
	// First collect all requests and connections. A client may reconnect during the loop, and its new connection must
	// stay open.
	requests := s.underWay()
	var conns []net.Conn
	s.conns.Range(func(conn, _ any) bool {
		conns = append(conns, conn.(net.Conn))
		return true
	})
	for _, conn := range conns {
		if tcp, ok := conn.(*net.TCPConn); ok {
			tcp.SetLinger(0) // makes Close send RST instead of FIN
		}
		conn.Close()
	}
	for _, request := range requests {
		request.cancel(errDropped)
	}
}

// Close closes the listener and all connections, as in a crash. It returns when all requests have ended. The data stays,
// and methods such as [Server.Create] still work. [Server.Restart] starts the server again.
func (s *Server) Close() {
	s.mu.Lock()
	s.down = true
	srv := s.http
	s.mu.Unlock()
	srv.Close() // closes the listener first, so clients cannot reconnect
	s.conns.Range(func(conn, _ any) bool {
		conn.(net.Conn).Close() // closes WebSockets, which srv does not track
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

// Restart starts a closed server on the same port. The watch cache is empty, so all older resourceVersions have
// expired. Restart fails if the server is running or if the port stays in use for 5 seconds.
func (s *Server) Restart() error {
	if !s.isDown() {
		return errors.New("restart the test API server: it is still running (call Close first)")
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
		time.Sleep(10 * time.Millisecond) // a client's ephemeral port can block the address briefly
	}
}
