package main

import (
	"io"
	"net"
	"sync"
)

// proxy forwards TCP connections on loopback to a server, until they are reset.
type proxy struct {
	listener net.Listener
	server   string
	running  sync.WaitGroup

	mu     sync.Mutex
	open   map[*net.TCPConn]*net.TCPConn // from the client, and to the server
	closed bool
}

// newProxy returns a proxy to a server, such as "127.0.0.1:8080". The caller must close it.
func newProxy(server string) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, server: server, open: map[*net.TCPConn]*net.TCPConn{}}
	p.running.Go(p.accept)
	return p, nil
}

func (p *proxy) url() string { return "http://" + p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		from, err := p.listener.Accept()
		if err != nil {
			return // the listener was closed
		}
		p.running.Go(func() { p.forward(from.(*net.TCPConn)) })
	}
}

// forward copies in both directions until one side ends.
func (p *proxy) forward(from *net.TCPConn) {
	defer from.Close()
	dialed, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	to := dialed.(*net.TCPConn)
	defer to.Close()
	if !p.add(from, to) {
		return
	}
	defer p.remove(from)
	p.running.Go(func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	})
	_, _ = io.Copy(from, to)
}

func (p *proxy) add(from, to *net.TCPConn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[from] = to
	return !p.closed
}

func (p *proxy) remove(from *net.TCPConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, from)
}

// reset resets all connections: the clients see ECONNRESET. New connections are accepted at once.
func (p *proxy) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for from, to := range p.open {
		_ = from.SetLinger(0)
		_ = from.Close()
		_ = to.Close()
	}
	clear(p.open)
}

// close stops listening, resets all connections, and waits until nothing is forwarded.
func (p *proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.reset()
	p.running.Wait()
}
