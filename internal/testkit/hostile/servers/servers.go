// Package servers provides hostile servers for tests. They run in memory and in simulated time.
package servers

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// server describes a server that misbehaves for ten minutes and is correct afterwards.
type server struct {
	name  string
	does  string // description of the misbehavior
	serve func(c *call)

	slow     bool             // objects take minutes to arrive, but the stream must not report lw.ErrSilent
	lies     bool             // sends wrong data, which clients believe until the next list
	nameless bool             // sends lists without a resourceVersion
	restart  bool             // resourceVersions restart, so recovery may take 27 minutes instead of 15
	causes   []error          // errors that the stream must report
	opts     lw.Options       // client options that the server needs, such as NoStreamingList and PageSize
	version  func(int) string // returns the resourceVersion of a revision; nil for decimal numbers
	naming   func(int) string // returns the name of the nth object; nil for names such as cm-0001

	wire func(x *exchange) // writes raw bytes to a connection; used instead of serve
	tls  bool              // connections use TLS; wire receives each connection before its TLS handshake
	ws   bool              // watches use WebSocket
}

// ordinary makes a client request ordinary lists in small pages.
var ordinary = lw.Options{NoStreamingList: true, PageSize: 7}

// exchange is the server side of a connection with one request.
type exchange struct {
	net.Conn
	m       *memory
	host    string // host name that the client dialed
	nth     int    // number of the connection, from 1
	kind    int    // index of the response variant to send
	request *http.Request
	watch   bool
	ctx     context.Context
	config  *tls.Config // for the TLS handshake, which wire performs
}
