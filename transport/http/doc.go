// Package http lists and watches over HTTP: net/http, HTTP/1.1 with chunked bodies or HTTP/2.
//
// A [Transport] talks to one API server. It sends its credential to that server only: not to another host, port or scheme
// that a redirect points to, and not to a proxy.
//
// # Many watches
//
// The watches of one server should share a Transport. Over HTTP/2 they then share connections. A kube-apiserver allows 100
// requests at a time on each connection. A request that finds no room dials another connection, so 150 watches need two.
//
// One HTTP/2 connection is dialed at a time. Other requests that find no room wait for it, and then try it first. So 10,000
// watches that start at once dial 100 connections. When a connection breaks, its 100 watches dial one. Over HTTP/1.1, and for
// upgrades to WebSocket, at most 100 connections are dialed at a time. A failed dial fails all requests that wait at that
// time. A request whose context ends stops waiting at once. These limits do not apply to [Options.Client], nor to other hosts
// that the server redirects to.
//
// A broken connection ends all of its watches. They also share its bandwidth. A slow reader does not delay the others: up
// to 4 MiB are buffered for it, and then the server has to wait.
//
// Over HTTP/1.1, and so over plain "http", each watch has its own connection. Each connection takes a file descriptor and a
// local port. Linux has 28,000 local ports for one server by default. A browser opens at most six HTTP/1.1 connections to a
// host, for all tabs together. The seventh watch waits, and so does every list. Use HTTP/2 there, fewer watches, or
// package ws.
//
// # In a browser
//
// Compiled to WebAssembly it fetches, and streams what it fetches: the reader pulls, so that a server is held back by who
// does not read, as soon as the browser holds enough itself: 64 MiB in Chromium. Options that a page cannot have are missing there: TLS and connections are the browser's business. The
// program's host has to call wasm/glue.js first.
//
// # Rotation
//
// Tokens, client certificates and authorities that come from files may be replaced while the transport is in use. The
// files are looked at before a request, once a minute, and at once when the server answered 401 or a request failed before
// there was an answer, as it does when either side refuses the other's certificate; if they changed, that request is tried
// once more. A new certificate or authority means new connections; responses that are being read go on over the old ones.
// Files that are missing, cut short or do not fit together change nothing: what was read last stays in use. A [http.Client]
// of the caller's looks after its own files. The system's roots are read once, by crypto/x509.
//
// # Logging
//
// This package logs nothing, but net/http writes to the global logger of package log. For example, it logs the first bytes of
// a response that no request expects, and these may be a part of an object. Call log.SetOutput(io.Discard) to silence it.
//
// Package kubeconfig makes the options of this package from a kubeconfig or a service account.
package http
