//go:build !js

package wire

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
)

// Proxy is a proxy server for tests. Its ServeHTTP method implements HTTP CONNECT, and ServeSocks implements SOCKS5
// (RFC 1928 and RFC 1929).
type Proxy struct {
	// Dial connects to the address that a client requests, for example "k8s.example:6443". user is "name:password", or
	// empty without credentials.
	Dial func(address, user string) (net.Conn, error)
}

// ServeHTTP handles CONNECT requests. It passes the credentials from the Proxy-Authorization header to Dial.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Header.Set("Authorization", r.Header.Get("Proxy-Authorization"))
	name, password, ok := r.BasicAuth()
	if ok {
		name += ":" + password
	}
	server, err := p.Dial(r.Host, name)
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

// ServeSocks accepts SOCKS5 clients. It returns when the listener and all tunnels are closed.
func (p *Proxy) ServeSocks(l net.Listener) {
	var tunnels sync.WaitGroup
	defer tunnels.Wait()
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		tunnels.Go(func() {
			if server, err := p.greet(client); err != nil {
				_ = client.Close()
			} else {
				join(client, server)
			}
		})
	}
}

// greet performs the SOCKS5 handshake and returns a connection to the requested address.
func (p *Proxy) greet(client net.Conn) (net.Conn, error) {
	methods, err := field(client, 1)
	if err != nil {
		return nil, err
	}
	user := ""
	if string(methods) == "\x00" {
		_, err = client.Write([]byte{5, 0})
	} else {
		_, _ = client.Write([]byte{5, 2})
		name, _ := field(client, 1)
		password, _ := field(client, 0)
		user = string(name) + ":" + string(password)
		_, err = client.Write([]byte{1, 0})
	}
	if err != nil {
		return nil, err
	}
	host, err := field(client, 4) // skips the version, command, reserved byte and address type; only host names are supported
	if err != nil {
		return nil, err
	}
	var port [2]byte
	if _, err = io.ReadFull(client, port[:]); err != nil {
		return nil, err
	}
	server, err := p.Dial(net.JoinHostPort(string(host), strconv.Itoa(int(port[0])<<8|int(port[1]))), user)
	if err != nil {
		_, _ = client.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0})
		return nil, err
	}
	_, err = client.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	return server, err
}

// field skips the given number of bytes and reads a length byte. It returns the following bytes, up to that length.
func field(r io.Reader, skip int) ([]byte, error) {
	head := make([]byte, skip+1)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	if skip == 4 && head[3] != 3 {
		return nil, errors.New("the test proxy supports only host names, not IP addresses")
	}
	text := make([]byte, head[skip])
	_, err := io.ReadFull(r, text)
	return text, err
}

// join copies data in both directions until both connections are closed.
func join(client, server net.Conn) {
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	})
	both.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	both.Wait()
}
