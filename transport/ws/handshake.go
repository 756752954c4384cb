//go:build !js

package ws

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// handshake is the connection that gorilla's dialer is given: what it writes first is made a request of the HTTP transport,
// so that credentials that rotate, TLS, proxies and redirects are in one place. What follows goes to the connection that
// the server upgraded.
type handshake struct {
	ctx  context.Context
	over *lwhttp.Transport
	req  *lw.Request

	asked    []byte // of gorilla's request, until it is whole
	answer   []byte // of the response, until it is read
	upgraded io.ReadWriteCloser
	err      error // why the server did not
}

func (h *handshake) Write(p []byte) (int, error) {
	if h.upgraded != nil {
		return h.upgraded.Write(p)
	}
	if h.asked = append(h.asked, p...); !bytes.HasSuffix(h.asked, []byte("\r\n\r\n")) {
		return len(p), nil
	}
	if h.err = h.upgrade(); h.err != nil {
		return 0, h.err
	}
	return len(p), nil
}

// upgrade makes the request, and lets gorilla see the response.
func (h *handshake) upgrade() error {
	asked, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(h.asked)))
	if err != nil {
		return err
	}
	header, upgraded, err := h.over.Upgrade(h.ctx, h.req, asked.Header)
	if err != nil {
		return err
	}
	var answer bytes.Buffer
	answer.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	if err := header.Write(&answer); err != nil {
		_ = upgraded.Close()
		return err
	}
	answer.WriteString("\r\n")
	h.asked, h.answer, h.upgraded = nil, answer.Bytes(), upgraded
	return nil
}

func (h *handshake) Read(p []byte) (int, error) {
	if len(h.answer) > 0 {
		n := copy(p, h.answer)
		h.answer = h.answer[n:]
		return n, nil
	}
	if h.upgraded == nil {
		return 0, io.ErrUnexpectedEOF
	}
	return h.upgraded.Read(p)
}

func (h *handshake) Close() error {
	if h.upgraded == nil {
		return nil
	}
	return h.upgraded.Close()
}

// There are no deadlines: whoever has waited for too long closes the connection.

func (h *handshake) SetDeadline(time.Time) error      { return nil }
func (h *handshake) SetReadDeadline(time.Time) error  { return nil }
func (h *handshake) SetWriteDeadline(time.Time) error { return nil }

func (h *handshake) LocalAddr() net.Addr  { return address{} }
func (h *handshake) RemoteAddr() net.Addr { return address{} }

type address struct{}

func (address) Network() string { return "http" }
func (address) String() string  { return "upgraded" }
