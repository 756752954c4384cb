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
	trickle    = 100 * time.Millisecond // a throttled connection passes a piece each time this has gone by
	unlimited  = -1
)

// link is one connection through the proxy.
type link struct {
	*Proxy
	client, server *net.TCPConn
	ctx            context.Context // ends with the link
	end            context.CancelFunc

	gate atomic.Pointer[context.Context] // nothing passes before it ends; nil: all passes
	rate atomic.Int64                    // bytes a second from the server; zero: as fast as they come
	left atomic.Int64                    // bytes from the server until it is cut off, or unlimited

	clientEnded, serverEnded atomic.Bool // by a fault: what is sent there from now on is lost
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

// carry passes one direction on to its end, and then the end itself.
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
			_ = to.CloseWrite() // one that is closed already needs no end
			return
		case err != nil:
			if !ended.Load() { // else the fault itself closed it, and the other end has its own time
				l.end()
			}
			return
		}
	}
}

// await waits until a stall has passed.
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

// passSpoiled passes on what the server sent, in pieces if throttled, and only so much of it if truncated.
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

// truncate ends the server's words here. The client may go on talking, to nobody.
func (l *link) truncate() {
	l.happened[Truncate].Add(1)
	l.clientEnded.Store(true)
	l.serverEnded.Store(true)
	_ = l.client.CloseWrite() // it fails only if the client is gone
	reset(l.server)
}

// spoil brings one fault after another over the link, until it ends, or the faults do.
func (l *link) spoil() {
	// Faults end with the link and with Calm.
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
		l.left.Store(int64(fault.Bytes)) // it counts when it happens
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
		_ = l.client.CloseWrite() // it fails only if the client is gone
	case EndToServer:
		l.serverEnded.Store(true)
		_ = l.server.CloseWrite() // it fails only if the server is gone
	}
}

// pause lets some time pass, or returns false when ctx ends first.
func (l *link) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil // both may be true
	case <-ctx.Done():
		return false
	}
}
