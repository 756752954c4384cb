package faults_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/e2e/faults"
)

// ends contains both ends of a connection through a proxy.
type ends struct {
	*testing.T
	proxy          *faults.Proxy
	client, server *net.TCPConn
}

// connect opens a connection through a proxy that injects the given faults in the given order.
func connect(t *testing.T, script ...faults.Fault) *ends {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer listener.Close()
	connected := make(chan struct{})
	proxy, err := faults.Start(listener.Addr().String(), func() faults.Fault {
		<-connected // a reset must not arrive before Dial returns
		if len(script) == 0 {
			return faults.Fault{Kind: faults.Stall, After: time.Hour}
		}
		next := script[0]
		script = script[1:]
		return next
	})
	require.NoError(t, err)
	conn, err := net.Dial("tcp", proxy.Addr())
	require.NoError(t, err)
	e := &ends{T: t, proxy: proxy, client: conn.(*net.TCPConn)}
	e.server, err = listener.AcceptTCP()
	require.NoError(t, err)
	close(connected)
	for _, conn := range []*net.TCPConn{e.client, e.server} {
		require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	}
	t.Cleanup(func() {
		proxy.Close()
		_ = e.client.Close()
		_ = e.server.Close()
	})
	return e
}

func (e *ends) send(from *net.TCPConn, text string) {
	e.Helper()
	_, err := from.Write([]byte(text))
	require.NoError(e, err)
}

func (e *ends) receive(at *net.TCPConn, want string) {
	e.Helper()
	got := make([]byte, len(want))
	_, err := io.ReadFull(at, got)
	require.NoError(e, err)
	require.Equal(e, want, string(got))
}

func (e *ends) seesEnd(at *net.TCPConn) {
	e.Helper()
	_, err := at.Read(make([]byte, 1))
	require.Equal(e, io.EOF, err)
}

func (e *ends) seesReset(at *net.TCPConn) {
	e.Helper()
	_, err := at.Read(make([]byte, 1))
	require.ErrorIs(e, err, syscall.ECONNRESET)
}

func (e *ends) happened(kind faults.Kind) {
	e.Helper()
	for _, k := range faults.Kinds() {
		require.Equal(e, k == kind, e.proxy.Happened(k) == 1, k)
	}
}

func TestNothingIsLostWithoutFaults(t *testing.T) {
	e := connect(t)
	text := make([]byte, 4<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(text)
	sent := make(chan error, 2)
	for _, conn := range []*net.TCPConn{e.client, e.server} {
		go func() {
			_, err := conn.Write(text)
			sent <- err
		}()
	}
	e.receive(e.client, string(text))
	e.receive(e.server, string(text))
	require.NoError(t, <-sent)
	require.NoError(t, <-sent)
	require.NoError(t, e.client.CloseWrite())
	e.seesEnd(e.server)
	e.send(e.server, "last message")
	require.NoError(t, e.server.Close())
	e.receive(e.client, "last message")
	e.seesEnd(e.client)
}

func TestResetReachesBothEnds(t *testing.T) {
	e := connect(t, faults.Fault{Kind: faults.Reset})
	e.seesReset(e.client)
	e.seesReset(e.server)
	e.happened(faults.Reset)
}

func TestStallDelaysData(t *testing.T) {
	const pause = 300 * time.Millisecond
	began := time.Now()
	e := connect(t, faults.Fault{Kind: faults.Stall, For: pause})
	require.True(t, eventually(func() bool { return e.proxy.Happened(faults.Stall) == 1 }))
	e.send(e.server, "down")
	e.send(e.client, "up")
	e.receive(e.client, "down")
	require.GreaterOrEqual(t, time.Since(began), pause)
	e.receive(e.server, "up")
	e.happened(faults.Stall)
}

// At 10 kB/s, 3,000 bytes take at least 290 ms.
func TestThrottleDelaysData(t *testing.T) {
	e := connect(t, faults.Fault{Kind: faults.Throttle, For: time.Hour, Bytes: 10_000})
	require.True(t, eventually(func() bool { return e.proxy.Happened(faults.Throttle) == 1 }))
	began := time.Now()
	text := string(bytes.Repeat([]byte("0123456789"), 300))
	e.send(e.server, text)
	e.receive(e.client, text)
	require.GreaterOrEqual(t, time.Since(began), 290*time.Millisecond)
	e.happened(faults.Throttle)
}

func TestTruncateEndsResponse(t *testing.T) {
	e := connect(t, faults.Fault{Kind: faults.Truncate, Bytes: 7}, faults.Fault{Kind: faults.Reset})
	got, err := make([]byte, 10), error(nil)
	n := len(got)
	for n == len(got) { // all data passes until the truncation takes effect
		e.send(e.server, "0123456789")
		n, err = io.ReadFull(e.client, got)
	}
	require.Equal(t, io.ErrUnexpectedEOF, err)
	require.Equal(t, 7, n)
	e.seesEnd(e.client)
	e.send(e.client, "dropped")
	e.seesReset(e.server)
	e.happened(faults.Truncate)
}

func TestEndToClientHalfCloses(t *testing.T) {
	e := connect(t, faults.Fault{Kind: faults.EndToClient})
	e.seesEnd(e.client)
	e.send(e.server, "lost")
	e.send(e.client, "still here")
	e.receive(e.server, "still here")
	require.NoError(t, e.client.Close())
	e.seesEnd(e.server)
	e.happened(faults.EndToClient)
}

func TestEndToServerHalfCloses(t *testing.T) {
	e := connect(t, faults.Fault{Kind: faults.EndToServer})
	e.seesEnd(e.server)
	e.send(e.client, "lost")
	e.send(e.server, "still here")
	e.receive(e.client, "still here")
	require.NoError(t, e.server.Close())
	e.seesEnd(e.client)
	e.happened(faults.EndToServer)
}

func TestFaultFollowsTemporaryFault(t *testing.T) {
	e := connect(t, faults.Fault{Kind: faults.Stall}, faults.Fault{Kind: faults.Throttle, Bytes: 10}, faults.Fault{Kind: faults.Reset})
	e.seesReset(e.client)
	for _, kind := range []faults.Kind{faults.Stall, faults.Throttle, faults.Reset} {
		require.Equal(t, 1, e.proxy.Happened(kind), kind)
	}
}

func TestCalmStopsFaults(t *testing.T) {
	e := connect(t, faults.Fault{Kind: faults.Stall, For: time.Hour}, faults.Fault{Kind: faults.Reset})
	require.True(t, eventually(func() bool { return e.proxy.Happened(faults.Stall) == 1 }))
	e.send(e.server, "at last")
	e.proxy.Calm()
	e.receive(e.client, "at last")
	e.send(e.client, "yes")
	e.receive(e.server, "yes")
	e.happened(faults.Stall)
}

func TestServerResetReachesClient(t *testing.T) {
	e := connect(t)
	require.NoError(t, e.server.SetLinger(0))
	require.NoError(t, e.server.Close())
	e.seesReset(e.client)
	conn, err := net.Dial("tcp", e.proxy.Addr())
	if err == nil { // otherwise, the reset arrived before Dial returned
		defer conn.Close()
		_, err = conn.Read(make([]byte, 1))
	}
	require.ErrorIs(t, err, syscall.ECONNRESET)
}

func TestRandomIsReproducible(t *testing.T) {
	const rounds = 20
	first, second := faults.Random(7, time.Second), faults.Random(7, time.Second)
	seen := map[faults.Kind]int{}
	var total time.Duration
	for range rounds * len(faults.Kinds()) {
		fault := first()
		require.Equal(t, fault, second())
		seen[fault.Kind]++
		total += fault.After
	}
	for _, kind := range faults.Kinds() {
		require.Equal(t, rounds, seen[kind], kind)
	}
	require.InDelta(t, 1, total.Seconds()/float64(rounds*len(seen)), 0.3)
}
