//go:build !js

package http

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// The server answers one ping and then stops responding. The watch must fail 45 seconds later, long before the idle
// timeout of a stream.
func TestDetectsDeadConnection(t *testing.T) {
	certificate := testCertificate()
	synctest.Test(t, func(t *testing.T) {
		client, remote := net.Pipe()
		served := make(chan int, 1)
		// The server must not write session tickets while the client writes its request, because both writes would
		// block on the pipe.
		config := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2"}, SessionTicketsDisabled: true}
		go func() { served <- mortalServer(tls.Server(remote, config), 1) }()

		transport, err := New("https://127.0.0.1", &Options{InsecureSkipVerify: true})
		require.NoError(t, err)
		native := transport.state.active.authenticated.(*boundedDialer).transport
		native.DialContext = withPermit(func(context.Context, string, string) (net.Conn, error) { return client, nil })

		body, err := transport.Open(t.Context(), &lw.Request{Path: "/", Watch: true})
		require.NoError(t, err)
		began := time.Now()
		text, err := io.ReadAll(body)
		require.Equal(t, "hello", string(text))
		require.Error(t, err)
		require.Equal(t, 30*time.Second+45*time.Second, time.Since(began), "the read must fail 15 seconds after the second ping, which is sent after 60 seconds")
		require.NoError(t, body.Close())
		transport.Close()
		require.Equal(t, 2, <-served, "number of pings")
	})
}

// testCertificate returns the server certificate of package httptest.
func testCertificate() tls.Certificate {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	return server.TLS.Certificates[0]
}

// mortalServer responds over HTTP/2 with "hello", answers the given number of pings, and then only reads. When the
// client has disconnected, it returns the number of received pings.
func mortalServer(connection net.Conn, answers int) (pings int) {
	defer connection.Close()
	frames := make(chan []byte, 16) // a separate goroutine writes these frames, because a write to a pipe blocks until the peer reads
	defer close(frames)
	go func() {
		for frame := range frames {
			_, _ = connection.Write(frame)
		}
	}()
	const data, headers, settings, ping, ack, endHeaders = 0, 1, 4, 6, 1, 4
	send := func(kind, flags byte, stream uint32, payload string) {
		frame := []byte{0, 0, byte(len(payload)), kind, flags}
		frames <- append(binary.BigEndian.AppendUint32(frame, stream), payload...)
	}
	preface := make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	if _, err := io.ReadFull(connection, preface); err != nil {
		return -1
	}
	for {
		header := make([]byte, 9)
		if _, err := io.ReadFull(connection, header); err != nil {
			return pings
		}
		payload := make([]byte, int(header[0])<<16|int(header[1])<<8|int(header[2]))
		if _, err := io.ReadFull(connection, payload); err != nil {
			return pings
		}
		switch kind, flags := header[3], header[4]; {
		case kind == settings && flags&ack == 0:
			send(settings, 0, 0, "")
			send(settings, ack, 0, "")
		case kind == headers:
			stream := binary.BigEndian.Uint32(header[5:])
			send(headers, endHeaders, stream, "\x88") // HPACK encoding of ":status: 200"
			send(data, 0, stream, "hello")
		case kind == ping && flags&ack == 0:
			if pings++; pings <= answers {
				send(ping, ack, 0, string(payload))
			}
		}
	}
}
