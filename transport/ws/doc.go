// Package ws watches over WebSocket, for networks that block other streaming responses. Its [Transport] uses a
// transport of package http for handshakes and for all requests other than watches.
//
// Each watch has a separate connection, with its own TLS session, file descriptor and local port, even if lists use
// HTTP/2. A browser does not count WebSockets among its six connections per host. It limits them separately, to about
// 200.
//
// In WebAssembly the package uses the browser's WebSocket, which has three limitations. A page cannot see why a
// handshake was rejected, so the package sends the same request over HTTP. There are no pings, so only the idle timeout
// of the watch detects a dead peer. A page cannot slow the server down, so the amount of unread data is limited.
package ws
