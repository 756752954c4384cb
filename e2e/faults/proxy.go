// Package faults is a TCP proxy that misbehaves on purpose: what networks, gateways and dying machines do to a connection.
package faults

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
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

// Kind says what a fault does to a connection.
type Kind int

// The kinds of faults.
const (
	Reset       Kind = iota // both ends are reset
	Stall                   // for a while nothing passes, in either direction
	Throttle                // for a while what the server sends trickles
	Truncate                // after so many more bytes the server's words end as if that were all, and the server is left
	EndToClient             // half closed: the client sees the end, what it sends still arrives, what the server sends is lost
	EndToServer             // half closed: the server sees the end, and what it sends still arrives
	kinds
)

var kindNames = [kinds]string{"reset", "stall", "throttle", "truncate", "end to client", "end to server"}

// String returns the kind's name.
func (k Kind) String() string { return kindNames[k] }

// Kinds returns all there are.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// lasts reports whether the connection goes on as before when the fault has passed.
func (k Kind) lasts() bool { return k == Stall || k == Throttle }

// Fault is one misfortune of one connection.
type Fault struct {
	Kind  Kind
	After time.Duration // since the connection opened, or the fault before it passed
	For   time.Duration // of Stall and Throttle: how long
	Bytes int           // of Truncate: how many more; of Throttle: how many a second, 10 at least
}

// Random returns faults for [Start] that a seed decides: each connection has one about every so often, the first ones
// rather early, and all kinds are equally frequent. Which connection gets which fault, and what it is just doing then,
// no seed decides.
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
