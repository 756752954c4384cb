// Package ws watches over WebSocket, for networks that let nothing else stream. Its [Transport] is a lw.Transport like that
// of transport/http, over which it makes its handshakes, and which serves everything but watches.
package ws
