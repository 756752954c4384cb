// Package http lists and watches over HTTP: net/http, HTTP/1.1 with chunked bodies or HTTP/2.
//
// A [Transport] talks to one API server. It sends its credential to that server only: not to another host, port or scheme
// that a redirect points to, and not to a proxy.
//
// # In a browser
//
// Compiled to WebAssembly it fetches, and streams what it fetches: the reader pulls, so that a server is held back by who
// does not read. Options that a page cannot have are missing there: TLS and connections are the browser's business. The
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
package http
