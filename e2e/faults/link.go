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
	trickle    = 100 * time.Millisecond // time between writes while the link is throttled
	unlimited  = -1
)

// link is a pair of connections: one from the client to the proxy, and one from the proxy to the server.
type link struct {
	*Proxy
	client, server *net.TCPConn
	ctx            context.Context // canceled when the link ends; the cancellation resets both connections
	end            context.CancelFunc

	gate atomic.Pointer[context.Context] // done when the current stall ends; nil if there is no stall
	rate atomic.Int64                    // bytes per second from the server to the client; zero means no limit
	left atomic.Int64                    // number of bytes from the server that pass before a truncation; the constant unlimited means no truncation

	clientEnded, serverEnded atomic.Bool // whether a fault has half-closed the connection to the client or the server; later data for that side is dropped
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

// carry forwards data in one direction. At EOF, it closes that direction. Once a fault has half-closed the destination,
// which sets ended, carry drops the data. It still reads, so that the sender can go on sending.
func (l *link) carry(to, from *net.TCPConn, ended *atomic.Bool, pass func(to *net.TCPConn, data []byte) error) {
	buffer := make([]byte, bufferSize)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !ended.Load() {
			// A fault may have half-closed the connection during the write, which then fails.
			if failed := pass(to, buffer[:n]); failed != nil && !ended.Load() {
				l.end()
				return
			}
		}
		switch {
		case err == io.EOF:
			l.await() // a stall delays the EOF like data
			_ = to.CloseWrite()
			return
		case err != nil:
			if !ended.Load() { // a fault that closes one direction does not end the other
				l.end()
			}
			return
		}
	}
}

// await blocks until the current stall ends.
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

// passSpoiled forwards data from the server to the client. It applies the current throttle and truncation.
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
			// If Calm has ended the fault in the meantime, l.left is unlimited and must stay so.
			l.left.CompareAndSwap(left, left-int64(len(piece)))
		}
		data = data[len(piece):]
	}
	return nil
}

// truncate makes the client read EOF after the last forwarded byte, and resets the connection to the server. It does not
// reset the connection to the client, because that could discard the forwarded bytes. It drops later data from the client.
func (l *link) truncate() {
	l.happened[Truncate].Add(1)
	l.clientEnded.Store(true)
	l.serverEnded.Store(true)
	_ = l.client.CloseWrite()
	reset(l.server)
}

// spoil injects faults one after another. It returns when the link ends, or after Calm or a permanent fault.
func (l *link) spoil() {
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
		l.left.Store(int64(fault.Bytes)) // truncate counts the fault when it takes effect
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
		_ = l.client.CloseWrite()
	case EndToServer:
		l.serverEnded.Store(true)
		_ = l.server.CloseWrite()
	}
}

// pause waits for d. It returns false if ctx is done first.
func (l *link) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil // ctx may also be done, because select chooses at random if both channels are ready
	case <-ctx.Done():
		return false
	}
}
