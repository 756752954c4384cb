package hostile

import (
	"crypto/tls"
	"io"
	"net"
)

// goAway returns a function that accepts an HTTP/2 connection, waits for the given number of requests, and sends GOAWAY
// instead of responses.
func goAway(after int) func(net.Conn, *tls.Config, int) {
	return func(conn net.Conn, config *tls.Config, nth int) {
		if nth > 10_000 {
			panic("the client opened more than 10,000 connections in ten minutes")
		}
		config = config.Clone()
		config.NextProtos = []string{"h2"}
		sendGoAway(tls.Server(conn, config), after)
	}
}

func sendGoAway(conn net.Conn, requests int) {
	send := make(chan string, 2) // a separate goroutine writes, because a write to a pipe blocks until the peer reads
	defer close(send)
	go func() {
		for frame := range send {
			_, _ = io.WriteString(conn, frame)
		}
	}()
	send <- "\x00\x00\x00\x04\x00\x00\x00\x00\x00" // SETTINGS
	_, err := io.ReadFull(conn, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")))
	for header := make([]byte, 9); err == nil; {
		if requests == 0 {
			requests--
			send <- "\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
		}
		if _, err = io.ReadFull(conn, header); err != nil {
			return
		}
		if header[3] == 1 { // HEADERS
			requests--
		}
		_, err = io.CopyN(io.Discard, conn, int64(header[0])<<16|int64(header[1])<<8|int64(header[2]))
	}
}
