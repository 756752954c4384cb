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
	trickle    = 100 * time.Millisecond // interval between writes on a throttled connection
	unlimited  = -1
)

// link is one connection through the proxy.
type link struct {
	*Proxy
	client, server *net.TCPConn
	ctx            context.Context // canceled when the link ends
	end            context.CancelFunc

	gate atomic.Pointer[context.Context] // context of the current stall, which delays all data; nil without a stall
	rate atomic.Int64                    // bytes per second from the server; zero means unlimited
	left atomic.Int64                    // number of bytes that still pass before the truncation

	clientEnded, serverEnded atomic.Bool // set after a fault has closed the connection toward this end; later data is dropped
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

// carry copies data in one direction until it ends, and then closes that direction.
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
			if !ended.Load() { // after a fault has closed one direction, the other direction stays open
				l.end()
			}
			return
		}
	}
}

// await blocks while the connection is stalled.
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

// passSpoiled forwards data from the server to the client. It sends the data slowly during a throttle, and stops at a
// truncation.
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

// truncate ends the response after the last forwarded byte. The proxy drops later data from the client.
func (l *link) truncate() {
	l.happened[Truncate].Add(1)
	l.clientEnded.Store(true)
	l.serverEnded.Store(true)
	_ = l.client.CloseWrite() // fails only if the client is gone
	reset(l.server)
}

// spoil injects one fault after another until the link ends or Calm is called.
func (l *link) spoil() {
	// This context is canceled when the link ends or Calm is called.
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
		l.left.Store(int64(fault.Bytes)) // Happened counts the fault when the truncation takes place
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

// pause waits for a duration. It returns false if the context is done first.
func (l *link) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil // if both channels are ready, select chooses one of them at random
	case <-ctx.Done():
		return false
	}
}
