//go:build !js

package ws

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// handshake is the connection that gorilla/websocket uses. It sends the handshake request through the HTTP transport,
// which handles credentials, TLS, proxies and redirects. After the handshake it reads and writes the upgraded
// connection.
type handshake struct {
	net.Conn // nil, because gorilla calls no other methods

	ctx       context.Context
	transport *lwhttp.Transport
	req       *lw.Request

	request  []byte // the part of the handshake request that gorilla has written
	response []byte // the part of the handshake response that gorilla has not read
	upgraded io.ReadWriteCloser
	redact   func(text string) string // removes the credential of the request from text of the server
	err      error                    // error of the HTTP transport; Open returns it

	pendingErr    error       // error that the next Read returns
	readErr       error       // last error that Read has returned
	deadline      time.Time   // deadline of the next write
	writeTimedOut atomic.Bool // a write timed out, so the connection was closed
}

// Write collects the handshake request. After the handshake it writes to the upgraded connection. That connection has
// no SetWriteDeadline, so Write closes it at the deadline.
func (h *handshake) Write(p []byte) (int, error) {
	if h.upgraded != nil {
		late := time.AfterFunc(time.Until(h.deadline), func() {
			h.writeTimedOut.Store(true)
			_ = h.upgraded.Close()
		})
		defer late.Stop()
		return h.upgraded.Write(p)
	}
	h.request = append(h.request, p...)
	if !bytes.HasSuffix(h.request, []byte("\r\n\r\n")) {
		return len(p), nil
	}
	h.err = h.upgrade()
	if h.err != nil {
		return 0, h.err
	}
	return len(p), nil
}

// upgrade sends gorilla's request through the HTTP transport and stores the response for gorilla.
func (h *handshake) upgrade() error {
	asked, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(h.request)))
	if err != nil {
		return err
	}
	header, upgraded, redact, err := h.transport.Upgrade(h.ctx, h.req, asked.Header)
	if status, ok := err.(*lw.StatusError); ok && (status.Code == http.StatusForbidden || status.Code == http.StatusNotFound) {
		return &handshakeError{status}
	}
	if err != nil {
		return err
	}
	for _, name := range []string{extensions, subprotocol} { // gorilla does not check these headers
		if strings.Trim(strings.Join(header[name], ","), " ,") != "" {
			_ = upgraded.Close()
			return responseError("the server selected a " + name + " value that the client did not offer")
		}
	}
	var answer bytes.Buffer
	answer.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	_ = http.Header{"Connection": header["Connection"], "Upgrade": header["Upgrade"], accept: header[accept]}.Write(&answer)
	answer.WriteString("\r\n")
	h.request, h.response, h.upgraded, h.redact = nil, answer.Bytes(), upgraded, redact
	return nil
}

const (
	accept      = "Sec-Websocket-Accept"
	extensions  = "Sec-Websocket-Extensions"
	subprotocol = "Sec-Websocket-Protocol"
)

func responseError(message string) error { return fmt.Errorf("%w: %s", lwhttp.ErrNotUpgraded, message) }

func (h *handshake) Read(p []byte) (int, error) {
	if len(h.response) > 0 {
		n := copy(p, h.response)
		h.response = h.response[n:]
		return n, nil
	}
	if h.upgraded == nil {
		return 0, io.ErrUnexpectedEOF
	}
	n := 0
	if h.pendingErr == nil {
		n, h.pendingErr = h.upgraded.Read(p)
	}
	if n > 0 { // return the data now and the error later, because gorilla would attribute the error to this data
		return n, nil
	}
	h.readErr = h.pendingErr
	return 0, h.readErr
}

func (h *handshake) Close() error {
	if h.upgraded == nil {
		return nil
	}
	return h.upgraded.Close()
}

// SetWriteDeadline sets the deadline of the next write. gorilla does not call it concurrently with Write.
func (h *handshake) SetWriteDeadline(t time.Time) error { h.deadline = t; return nil }

// SetDeadline does nothing, because the body closes the connection after a timeout.
func (h *handshake) SetDeadline(time.Time) error { return nil }
