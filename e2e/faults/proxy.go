// Package faults provides a TCP proxy that injects the connection failures that networks, gateways and crashing
// machines cause.
package faults

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy forwards TCP connections to a server and injects faults. All methods may be called concurrently.
type Proxy struct {
	target   string
	next     func() Fault
	listener *net.TCPListener
	running  sync.WaitGroup
	happened [kinds]atomic.Int64

	ctx   context.Context // canceled by Close
	close context.CancelFunc
	fair  context.Context // canceled by Calm, which stops the faults
	calm  context.CancelFunc
}

// Start returns a proxy that listens on a port of 127.0.0.1 and forwards connections to target, for example
// "127.0.0.1:6443". It calls next for the first fault of each connection, and for the next fault after a temporary
// fault. Concurrent calls of next must be safe.
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

// Addr returns the address of the proxy.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Calm stops the faults: current faults end and no new faults start. Half-closed connections stay half closed.
func (p *Proxy) Calm() { p.calm() }

// Happened returns the number of faults of a kind. It does not count a fault if its connection ended before the fault
// started.
func (p *Proxy) Happened(kind Kind) int { return int(p.happened[kind].Load()) }

// Close resets all connections and waits until all goroutines have ended.
func (p *Proxy) Close() {
	p.close()
	_ = p.listener.Close() // fails only if it was already closed
	p.running.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.AcceptTCP()
		if err != nil {
			return // Close has closed the listener
		}
		p.running.Go(func() { p.serve(client) })
	}
}

// serve forwards one connection until it ends. If the server is unreachable, it resets the
// client's connection.
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
	if l.ctx.Err() == nil { // data that is still in transit must arrive after a clean close
		_ = client.Close()
		_ = conn.Close()
	}
	l.end()
	spoiling.Wait()
}

// reset closes a connection with a TCP reset instead of EOF.
func reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0) // fails only if the connection is already closed
	_ = conn.Close()
}

// Kind is a kind of fault.
type Kind int

// These are the kinds of faults and their effects.
const (
	Reset       Kind = iota // the proxy resets both connections
	Stall                   // no data passes in either direction for some time
	Throttle                // data from the server passes slowly for some time
	Truncate                // the response ends after a number of bytes, and the proxy resets the connection to the server
	EndToClient             // half-closed connection: the client reads EOF but can still send; data from the server is dropped
	EndToServer             // half-closed connection: the server reads EOF but can still send
	kinds
)

var kindNames = [kinds]string{"reset", "stall", "throttle", "truncate", "end to client", "end to server"}

// String returns the kind's name.
func (k Kind) String() string { return kindNames[k] }

// Kinds returns all kinds.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// lasts reports whether the connection recovers after the fault.
func (k Kind) lasts() bool { return k == Stall || k == Throttle }

// Fault describes a fault that is injected into one connection.
type Fault struct {
	Kind  Kind
	After time.Duration // delay after the connection opened or the previous fault ended
	For   time.Duration // duration of a Stall or Throttle
	Bytes int           // Truncate: number of bytes that still pass. Throttle: bytes per second, at least 10
}

// Random returns a function for [Start] that generates random faults. The seed determines the sequence of faults, but
// not their connections. The mean is the average delay before a fault. All kinds are equally frequent.
func Random(seed uint64, mean time.Duration) func() Fault {
	random := rand.New(rand.NewPCG(seed, 0))
	var mu sync.Mutex
	var deck []Kind
	return func() Fault {
		mu.Lock()
		defer mu.Unlock()
		if len(deck) == 0 {
			deck = Kinds()
			random.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		}
		fault := Fault{Kind: deck[0]}
		deck = deck[1:]
		early := random.Float64()
		fault.After = time.Duration(3 * early * early * float64(mean))
		switch fault.Kind {
		case Stall:
			fault.For = time.Second + time.Duration(random.Int64N(int64(7*time.Second)))
		case Throttle:
			fault.For = time.Second + time.Duration(random.Int64N(int64(5*time.Second)))
			fault.Bytes = 2 << (10 + random.IntN(6))
		case Truncate:
			fault.Bytes = 1 + random.IntN(1<<random.IntN(17))
		}
		return fault
	}
}
