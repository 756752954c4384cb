//go:build !js

package wire

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strconv"
)

// Proxy is a proxy server for tests. The function connects to the address that a client requests, for example
// "k8s.example:6443". user is "name:password", or "" if the client sends no credentials. The ServeHTTP method
// implements HTTP CONNECT, and ServeSocks implements SOCKS5 (RFC 1928) for clients with a password (RFC 1929).
type Proxy func(address, user string) (net.Conn, error)

// ServeHTTP handles CONNECT requests. It takes the credentials from the Proxy-Authorization header.
func (dial Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Header.Set("Authorization", r.Header.Get("Proxy-Authorization")) // the only header that BasicAuth reads
	user, password, ok := r.BasicAuth()
	if ok {
		user += ":" + password
	}
	server, err := dial(r.Host, user)
	if err != nil || r.Method != http.MethodConnect {
		http.Error(w, "no", http.StatusBadGateway)
		return
	}
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = server.Close()
		return
	}
	_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	join(client, server)
}

// ServeSocks accepts SOCKS5 clients until the listener is closed.
func (dial Proxy) ServeSocks(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			if server, err := dial.greet(client); err != nil {
				_ = client.Close()
			} else {
				join(client, server)
			}
		}()
	}
}

// greet performs the SOCKS5 handshake and returns a connection to the requested address. It checks only the last read
// for errors, because that read fails, too, if an earlier read or write has failed.
func (dial Proxy) greet(client net.Conn) (net.Conn, error) {
	in := bufio.NewReader(client)
	field := func(skip int) string { // skips some bytes, and then reads a field that starts with its length
		_, _ = in.Discard(skip)
		length, _ := in.ReadByte()
		text := make([]byte, length)
		_, _ = io.ReadFull(in, text)
		return string(text)
	}
	field(1)                          // the methods that the client supports
	_, _ = client.Write([]byte{5, 2}) // selects the method with a password
	user := field(1) + ":" + field(0) // name and password
	_, _ = client.Write([]byte{1, 0}) // accepts them
	host := field(4)                  // expects a host name, because no test uses an IP address
	var port uint16
	if err := binary.Read(in, binary.BigEndian, &port); err != nil {
		return nil, err
	}
	server, err := dial(net.JoinHostPort(host, strconv.Itoa(int(port))), user)
	if err == nil {
		_, err = client.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0}) // success, and an address that clients ignore
	}
	return server, err
}

// join copies data in both directions until one connection is closed.
func join(client, server net.Conn) {
	copyAll := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		_ = to.Close()
		_ = from.Close()
	}
	go copyAll(server, client)
	copyAll(client, server)
}
