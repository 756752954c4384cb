// Package http lists and watches over HTTP: net/http, HTTP/1.1 with chunked bodies or HTTP/2.
//
// A [Transport] talks to one API server. It sends its credential to that server only: not to another host, port or scheme
// that a redirect points to, and not to a proxy.
//
// # Many watches
//
// The watches of one server should share a Transport. Over HTTP/2 they then share connections: a kube-apiserver allows 100
// requests at a time on each, and where these are under way net/http makes another one, so that 150 watches take two. Watches
// that all begin at once, before there is a connection, may dial about one each; those that are not needed are closed within
// seconds. What shares a connection shares its fate and its bandwidth. A slow reader holds up no other: up to 4 MiB wait for
// it, and then the server does.
//
// Over HTTP/1.1, and so over plain "http", each watch has a connection, with a file descriptor and a local port, of which
// Linux has 28,000 for one server unless told otherwise. A browser has six connections of HTTP/1.1 to a host, for all tabs
// together: the seventh watch waits, and so does every list. Use HTTP/2 there, fewer watches, or package ws.
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
// Package kubeconfig makes the options of this package from a kubeconfig or a service account.
package http
