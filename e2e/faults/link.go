package faults

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"time"
)

const (
	bufferSize = 32 << 10
	trickle    = 100 * time.Millisecond // interval between the pieces of a throttled connection
	unlimited  = -1
)

// link is one connection through the proxy.
type link struct {
	*Proxy
	client, server *net.TCPConn
	ctx            context.Context // done when the link ends
	end            context.CancelFunc

	gate atomic.Pointer[context.Context] // data waits until this context is done; nil if no stall is active
	rate atomic.Int64                    // bytes per second from the server; zero means unlimited
	left atomic.Int64                    // bytes from the server until the truncation, or unlimited

	clientEnded, serverEnded atomic.Bool // closed by a fault, so later data to this end is dropped
}

func newLink(p *Proxy, client, server *net.TCPConn) *link {
	l := &link{Proxy: p, client: client, server: server}
	l.ctx, l.end = context.WithCancel(p.ctx)
	l.left.Store(unlimited)
	context.AfterFunc(l.ctx, func() { reset(client); reset(server) })
	return l
}

func (l *link) up()   { l.carry(l.server, l.client, &l.serverEnded, l.pass) }
func (l *link) down() { l.carry(l.client, l.server, &l.clientEnded, l.passSpoiled) }

// carry copies one direction until it ends, and then closes that direction.
func (l *link) carry(to, from *net.TCPConn, ended *atomic.Bool, pass func(to *net.TCPConn, data []byte) error) {
	buffer := make([]byte, bufferSize)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !ended.Load() {
			if failed := pass(to, buffer[:n]); failed != nil && !ended.Load() {
				l.end()
				return
			}
		}
		switch {
		case err == io.EOF:
			l.await()
			_ = to.CloseWrite() // fails only if the connection is already closed
			return
		case err != nil:
			if !ended.Load() { // after a fault closed this end, the other end stays open
				l.end()
			}
			return
		}
	}
}

// await blocks until a stall has passed.
func (l *link) await() {
	if gate := l.gate.Load(); gate != nil {
		<-(*gate).Done()
	}
}

func (l *link) pass(to *net.TCPConn, data []byte) error {
	l.await()
	_, err := to.Write(data)
	return err
}

// passSpoiled forwards data from the server. It splits the data while throttled and cuts it at a truncation.
func (l *link) passSpoiled(to *net.TCPConn, data []byte) error {
	for len(data) > 0 {
		piece := data
		if rate := l.rate.Load(); rate > 0 {
			piece = data[:min(len(data), max(1, int(rate*int64(trickle)/int64(time.Second))))]
			l.pause(l.ctx, trickle)
		}
		left := l.left.Load()
		cut := left != unlimited && left <= int64(len(piece))
		if cut {
			piece = piece[:left]
		}
		if err := l.pass(to, piece); err != nil {
			return err
		}
		if cut {
			l.truncate()
			return nil
		}
		if left != unlimited {
			l.left.CompareAndSwap(left, left-int64(len(piece)))
		}
		data = data[len(piece):]
	}
	return nil
}

// truncate ends the response here. Later data from the client is dropped.
func (l *link) truncate() {
	l.happened[Truncate].Add(1)
	l.clientEnded.Store(true)
	l.serverEnded.Store(true)
	_ = l.client.CloseWrite() // fails only if the client is gone
	reset(l.server)
}

// spoil applies one fault after another until the link or the faults end.
func (l *link) spoil() {
	// The context is done when the link ends or Calm is called.
	ctx, stop := context.WithCancel(l.ctx)
	defer stop()
	defer context.AfterFunc(l.fair, stop)()
	for {
		fault := l.next()
		if !l.pause(ctx, fault.After) {
			return
		}
		l.inflict(ctx, fault)
		if !fault.Kind.lasts() {
			return
		}
	}
}

func (l *link) inflict(ctx context.Context, fault Fault) {
	if fault.Kind == Truncate {
		l.left.Store(int64(fault.Bytes)) // truncation happens when this count reaches zero
		context.AfterFunc(ctx, func() { l.left.Store(unlimited) })
		<-ctx.Done()
		return
	}
	l.happened[fault.Kind].Add(1)
	switch fault.Kind {
	case Reset:
		l.end()
	case Stall:
		gate, open := context.WithTimeout(ctx, fault.For)
		l.gate.Store(&gate)
		<-gate.Done()
		open()
		l.gate.Store(nil)
	case Throttle:
		l.rate.Store(int64(fault.Bytes))
		l.pause(ctx, fault.For)
		l.rate.Store(0)
	case EndToClient:
		l.clientEnded.Store(true)
		_ = l.client.CloseWrite() // fails only if the client is gone
	case EndToServer:
		l.serverEnded.Store(true)
		_ = l.server.CloseWrite() // fails only if the server is gone
	}
}

// pause waits for d. It returns false if ctx is done first.
func (l *link) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil // if both are ready, select chooses at random
	case <-ctx.Done():
		return false
	}
}
