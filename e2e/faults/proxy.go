package faults

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
)

// Proxy passes TCP connections on to a server, with faults. All methods may run concurrently.
type Proxy struct {
	target   string
	next     func() Fault
	listener *net.TCPListener
	running  sync.WaitGroup
	happened [kinds]atomic.Int64

	ctx   context.Context // ends with Close
	close context.CancelFunc
	fair  context.Context // ends with Calm: no weather is fair before
	calm  context.CancelFunc
}

// Start returns a proxy that listens on a port of 127.0.0.1 and connects to a target, as "127.0.0.1:6443". next is asked
// for a connection's first fault when it opens, and for another one when that has passed; several goroutines may ask at
// once.
func Start(target string, next func() Fault) (*Proxy, error) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	p := &Proxy{target: target, next: next, listener: listener}
	p.ctx, p.close = context.WithCancel(context.Background())
	p.fair, p.calm = context.WithCancel(p.ctx)
	p.running.Go(p.accept)
	return p, nil
}

// Addr returns where the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Calm ends the faults: those under way pass, and no others come. What is half closed stays so.
func (p *Proxy) Calm() { p.calm() }

// Happened returns how many faults of a kind there were. One that the connection's own end forestalled does not count.
func (p *Proxy) Happened(kind Kind) int { return int(p.happened[kind].Load()) }

// Close resets all connections, and returns when nothing is left running.
func (p *Proxy) Close() {
	p.close()
	_ = p.listener.Close() // it was open
	p.running.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.AcceptTCP()
		if err != nil {
			return // closed
		}
		p.running.Go(func() { p.serve(client) })
	}
}

// serve passes one connection on until it ends. A client whose server is not there is reset.
func (p *Proxy) serve(client *net.TCPConn) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(p.ctx, "tcp", p.target)
	if err != nil {
		reset(client)
		return
	}
	l := newLink(p, client, conn.(*net.TCPConn))
	var spoiling, carrying sync.WaitGroup
	spoiling.Go(l.spoil)
	carrying.Go(l.up)
	carrying.Go(l.down)
	carrying.Wait()
	if l.ctx.Err() == nil { // in good order: what is still on its way arrives
		_ = client.Close()
		_ = conn.Close()
	}
	l.end()
	spoiling.Wait()
}

// reset closes a connection so that its other end sees it broken, not ended.
func reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0) // it fails only on a connection that is closed, as Close does
	_ = conn.Close()
}
