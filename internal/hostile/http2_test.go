package hostile

import (
	"crypto/tls"
	"io"
)

// goAway accepts an HTTP/2 connection and sends GOAWAY after the given number of requests, without serving any of
// them.
func (x *exchange) goAway(requests int) {
	if x.nth > 10_000 {
		panic("the client opened more than 10,000 connections in ten minutes")
	}
	config := x.config.Clone()
	config.NextProtos = []string{"h2"}
	x.Conn = tls.Server(x.Conn, config)
	send := make(chan string, 2) // a separate goroutine writes, because a write to a pipe blocks until the peer reads
	defer close(send)
	go func() {
		for frame := range send {
			x.say(frame)
		}
	}()
	send <- "\x00\x00\x00\x04\x00\x00\x00\x00\x00" // SETTINGS
	_, err := io.ReadFull(x, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")))
	for header := make([]byte, 9); err == nil; {
		if requests == 0 {
			requests--
			send <- "\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
		}
		if _, err = io.ReadFull(x, header); err != nil {
			return
		}
		if header[3] == 1 { // HEADERS
			requests--
		}
		_, err = io.CopyN(io.Discard, x, int64(header[0])<<16|int64(header[1])<<8|int64(header[2]))
	}
}
