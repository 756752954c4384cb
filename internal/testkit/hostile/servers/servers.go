// Package servers provides hostile servers for tests. Each server is in memory and works in simulated time.
package servers

import (
	"context"
	"net"
	"net/http"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// A server is hostile for ten minutes and correct afterwards.
type server struct {
	name  string
	does  string // description in one line
	serve func(c *call)

	lies     bool             // sends wrong data, which clients believe until the next list
	nameless bool             // sends lists without a resourceVersion
	restart  bool             // resourceVersions restart, so recovery may take 27 minutes instead of 15
	causes   []error          // causes that the stream must report
	opts     lw.Options       // client options that the server needs, such as NoStreamingList and PageSize
	version  func(int) string // formats the collection's resourceVersion; nil for decimal numbers
	naming   func(int) string // names the objects; nil for "cm-0001" and so on

	wire func(x *exchange) // handles a connection byte by byte; used instead of the field serve
	tls  bool              // uses TLS once the server is correct
	ws   bool              // sends watches over WebSocket
}

// ordinary makes a client request ordinary lists in small pages.
var ordinary = lw.Options{NoStreamingList: true, PageSize: 7}

// An exchange is a connection with one request.
type exchange struct {
	net.Conn
	m       *memory
	host    string // the dialed host
	nth     int    // number of the connection, from 1
	kind    int    // selects one of the responses that the server can send
	request *http.Request
	watch   bool
	ctx     context.Context
}
