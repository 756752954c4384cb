// Package http lists and watches over HTTP: net/http, HTTP/1.1 with chunked bodies or HTTP/2.
//
// A [Transport] talks to one API server. It sends its credential to that server only: not to another host, port or scheme
// that a redirect points to.
package http
