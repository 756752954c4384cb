// Package ws watches over WebSocket, for networks that let nothing else stream. Its [Transport] is a lw.Transport like that
// of transport/http, over which it makes its handshakes, and which serves everything but watches.
//
// Each watch has a connection of its own, with TLS of its own, a file descriptor and a local port, also where lists go over
// HTTP/2. Of the six connections that a browser has for a host they take none, and have a limit of their own, of about 200.
//
// Compiled to WebAssembly it uses the browser's WebSocket, of which a page sees less: a refused handshake is explained by
// asking over HTTP, there are no pings, so that only a watch's own liveness finds a dead peer, and a server cannot be held
// back, so that what waits to be read is limited.
package ws
