// Package faults provides a TCP proxy that breaks connections as networks, gateways and crashing machines do.
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

	ctx   context.Context // done after Close
	close context.CancelFunc
	fair  context.Context // done after Calm, which stops the faults
	calm  context.CancelFunc
}

// Start returns a proxy that listens on a port of 127.0.0.1 and forwards to target, for example "127.0.0.1:6443". It
// calls next for each new connection, and again when a temporary fault has passed. Several goroutines may call next at
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

// Addr returns the address of the proxy.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Calm stops the faults: active faults end and no new faults start. Half-closed connections stay half closed.
func (p *Proxy) Calm() { p.calm() }

// Happened returns the number of faults of a kind. It does not count faults whose connection ended before they started.
func (p *Proxy) Happened(kind Kind) int { return int(p.happened[kind].Load()) }

// Close resets all connections and waits for all goroutines.
func (p *Proxy) Close() {
	p.close()
	_ = p.listener.Close() // fails only if it was already closed
	p.running.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.AcceptTCP()
		if err != nil {
			return // the listener is closed
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
	if l.ctx.Err() == nil { // after a clean close, data in flight still arrives
		_ = client.Close()
		_ = conn.Close()
	}
	l.end()
	spoiling.Wait()
}

// reset closes a connection so that the other end sees a reset instead of EOF.
func reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0) // fails only on a closed connection, like Close
	_ = conn.Close()
}

// Kind is the effect of a fault on a connection.
type Kind int

// These constants are the kinds of faults.
const (
	Reset       Kind = iota // both ends are reset
	Stall                   // no data passes in either direction for a while
	Throttle                // data from the server is slow for a while
	Truncate                // the response ends after some more bytes, and the server is reset
	EndToClient             // half closed: the client reads EOF and can still send; data from the server is dropped
	EndToServer             // half closed: the server reads EOF and can still send
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

// Fault is one fault of one connection.
type Fault struct {
	Kind  Kind
	After time.Duration // delay since the connection opened or the previous fault passed
	For   time.Duration // duration of Stall and Throttle
	Bytes int           // Truncate: remaining bytes. Throttle: bytes per second, at least 10
}

// Random returns a fault generator for [Start]. The seed determines the faults, but not which connection gets which
// fault. The mean is the average delay before a fault; short delays are more frequent. All kinds are equally frequent.
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
