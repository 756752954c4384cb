// Package faults provides a TCP proxy that injects connection failures, such as resets and half-open connections. The soak
// test puts it between its clients and a real kube-apiserver.
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
	fair  context.Context // done after Calm or Close, which end all faults
	calm  context.CancelFunc
}

// Start returns a proxy that listens on a port of 127.0.0.1 and forwards connections to target, for example
// "127.0.0.1:6443". The proxy calls next for the first fault of each connection and again after each temporary fault.
// next must be safe for concurrent use.
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

// Addr returns the address on which the proxy listens, for example "127.0.0.1:41234".
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Calm ends the current faults and prevents new faults. A half-closed connection stays half-closed.
func (p *Proxy) Calm() { p.calm() }

// Happened returns how many faults of a kind were injected. A fault does not count if its connection ends before
// the fault starts.
func (p *Proxy) Happened(kind Kind) int { return int(p.happened[kind].Load()) }

// Close resets all connections and waits until all goroutines have ended.
func (p *Proxy) Close() {
	p.close()
	_ = p.listener.Close()
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

// serve forwards a connection until it ends. It resets the connection if the server is unreachable.
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
	if l.ctx.Err() == nil { // no fault has reset the connections, and a reset here could discard data in transit
		_ = client.Close()
		_ = conn.Close()
	}
	l.end()
	spoiling.Wait()
}

// reset closes a connection with a TCP reset.
func reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0)
	_ = conn.Close()
}

// Kind identifies a type of fault, such as Reset or Stall.
type Kind int

// The kinds of faults that the proxy can inject.
const (
	Reset       Kind = iota // both connections are reset
	Stall                   // no data passes in either direction for Fault.For
	Throttle                // the server's data passes slowly for Fault.For
	Truncate                // the response ends after Fault.Bytes, and the connection to the server is reset
	EndToClient             // the client reads EOF but can still send data; the server's data is dropped
	EndToServer             // the server reads EOF but can still send data; the client's data is dropped
	kinds
)

var kindNames = [kinds]string{"reset", "stall", "throttle", "truncate", "EOF to client", "EOF to server"}

// String returns a name such as "reset".
func (k Kind) String() string { return kindNames[k] }

// Kinds returns all kinds of faults.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// lasts reports whether the fault ends by itself after Fault.For.
func (k Kind) lasts() bool { return k == Stall || k == Throttle }

// Fault describes a failure that the proxy injects into one connection.
type Fault struct {
	Kind  Kind
	After time.Duration // delay after the start of the connection or the end of its previous fault
	For   time.Duration // duration of a Stall or Throttle
	Bytes int           // for Truncate, the number of bytes to forward first; for Throttle, the rate in bytes per second, at least 10, because the proxy forwards at least one byte every 100 ms
}

// Random returns a function for [Start] that generates random faults. All kinds are equally frequent, and mean is the
// average of Fault.After. The seed determines the sequence of faults, but not the connection that each fault affects.
func Random(seed uint64, mean time.Duration) func() Fault {
	random := rand.New(rand.NewPCG(seed, 0))
	var mu sync.Mutex
	var deck []Kind // kinds that are still to come, in random order, before any kind comes again
	return func() Fault {
		mu.Lock()
		defer mu.Unlock()
		if len(deck) == 0 {
			deck = Kinds()
			random.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		}
		fault := Fault{Kind: deck[0]}
		deck = deck[1:]
		// Short delays are more frequent than long ones. The square has the average 1/3, so fault.After has the average mean.
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
