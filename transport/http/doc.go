// Package http lists and watches over HTTP/1.1 or HTTP/2 with net/http.
//
// A [Transport] sends requests to one API server. It never sends its credentials to a proxy, or to another host, port
// or scheme after a redirect.
//
// # Many watches
//
// Share one Transport between all watches of a server. Over HTTP/2 they then share connections. A kube-apiserver allows
// 100 concurrent requests per connection, so 150 watches need two connections.
//
// The transport dials one HTTP/2 connection at a time. Other requests wait for this connection and then use it if
// possible. So if 10,000 watches start at the same time, the transport dials 100 connections. Over HTTP/1.1, and for
// upgrades to WebSocket, the transport dials at most 100 connections at a time. If a dial fails, all requests that are
// waiting for that connection fail. A request stops waiting when its context is done. These limits do not apply to
// [Options.Client], or to other hosts after a redirect.
//
// When a connection breaks, all of its watches end. The watches of a connection share its bandwidth. The client buffers
// up to 4 MiB for a slow reader, so that the slow reader does not delay the other watches. When the buffer is full, the
// server must wait.
//
// Over HTTP/1.1, including all plain "http" URLs, each watch has its own connection. Each connection uses a file
// descriptor and a local port. By default, Linux has 28,000 local ports per server. A browser opens at most six
// HTTP/1.1 connections per host, across all tabs. The seventh watch waits, and so does every list. For six or more
// watches, use HTTP/2 or package ws.
//
// # In a browser
//
// In WebAssembly the transport uses fetch and streams the response. The browser buffers unread data, up to 64 MiB in
// Chromium. When the buffer is full, the server must wait. There are no options for TLS and connections, because the
// browser controls both. The page must load wasm/glue.js before the WASM module starts.
//
// # Rotation
//
// Files with tokens, client certificates and certificate authorities may be replaced while the transport is in use. The
// transport reads them again before a request if the last read is at least a minute old. It also reads them after a
// 401, and after a request that failed without a response, for example because a certificate was rejected. If they have
// changed, the transport retries the request once.
//
// A new certificate or certificate authority requires new connections. Open responses continue over the old
// connections. If a file is missing or truncated, or a certificate does not match its key, the transport keeps the
// previous contents. [Options.Client] must handle rotation itself. The system's root certificates are read only once.
//
// # Logging
//
// This package logs nothing, but net/http writes to the global logger of package log. For example, it logs the first
// bytes of an unsolicited response, which may contain parts of an object. Call log.SetOutput(io.Discard) to silence it.
//
// Package kubeconfig creates the options of this package from a kubeconfig or a service account.
package http
