// Package ws watches over WebSocket, for networks that let nothing else stream. Its [Transport] is a lw.Transport like that
// of transport/http, over which it makes its handshakes, and which serves everything but watches.
//
// Compiled to WebAssembly it uses the browser's WebSocket, of which a page sees less: a refused handshake is explained by
// asking over HTTP, there are no pings, so that only a watch's own liveness finds a dead peer, and a server cannot be held
// back, so that what waits to be read is limited.
package ws
