package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"path"
	"regexp"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// readable matches the unescaped paths of discovery documents, collections and objects. It must not match subresources,
// because a GET request for exec, attach, portforward or proxy runs a command or reaches a Pod. It excludes %, because a
// slash that is escaped twice (%252F) could otherwise hide a subresource.
var readable = regexp.MustCompile(`^/(api|apis|(api/v1|apis/[^/%]+/[^/%]+)(/namespaces/[^/%]+)?/[^/%]+(/[^/%]+)?)$`)

// proxy serves the dashboard and an API server under a random path, which keeps other pages out. A cookie could not do
// this, because a browser sends a cookie to all ports of a host.
type proxy struct {
	host, secret string // the page's URL is http://host/secret/ui/
	page, api    http.Handler
}

func newProxy(host string, transport *lwhttp.Transport) *proxy {
	return &proxy{host, rand.Text(), page(), &httputil.ReverseProxy{
		Rewrite:   func(*httputil.ProxyRequest) {}, // unnecessary, because credentials ignores the host
		Transport: credentials{transport},
		ErrorLog:  log.New(io.Discard, "", 0), // the page reports interruptions
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			status := &lw.StatusError{Code: http.StatusBadGateway, Message: err.Error()}
			_ = errors.As(err, &status) // uses the server's error response, if there is one
			respond(w, status)
		},
	}}
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	place, isSecret := strings.CutPrefix(r.URL.Path, "/"+p.secret)
	origin := r.Header.Get("Origin")
	refuse := func(code int, message string) { respond(w, &lw.StatusError{Code: code, Message: "demo: " + message}) }
	// Without RawPath, the server receives the path that readable has checked, and not a different escaped form.
	switch r.URL.Path, r.URL.RawPath = place, ""; {
	case r.Host != p.host: // otherwise, a page whose host name resolves to 127.0.0.1 could read the responses
		refuse(http.StatusForbidden, "the Host header must be "+p.host)
	case origin != "" && origin != "http://"+p.host: // a WebSocket is not subject to the same-origin policy
		refuse(http.StatusForbidden, "pages of another origin have no access")
	case !isSecret:
		refuse(http.StatusNotFound, "open the URL that the demo has printed")
	case r.Method != http.MethodGet:
		refuse(http.StatusMethodNotAllowed, "only GET requests are allowed")
	case strings.HasPrefix(place, "/ui/"):
		p.page.ServeHTTP(w, r)
	case r.Header.Get("Authorization") != "":
		refuse(http.StatusUnauthorized, "the kubeconfig provides the credentials; leave the token empty")
	case !readable.MatchString(place) || path.Clean(place) != place: // the segments . and .. would lead to another path
		refuse(http.StatusForbidden, "only get, list, watch and discovery are allowed")
	default:
		p.api.ServeHTTP(w, r)
	}
}

// respond sends an error in the same format as an API server.
func respond(w http.ResponseWriter, e *lw.StatusError) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.Code)
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": e.Code, "reason": e.Reason, "message": e.Message})
}

// credentials sends the requests of a [httputil.ReverseProxy] through a transport, which adds the credentials. The other
// headers of the browser do not reach the server.
type credentials struct{ transport *lwhttp.Transport }

func (c credentials) RoundTrip(r *http.Request) (*http.Response, error) {
	request := &lw.Request{
		Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Accept: r.Header.Get("Accept"), Watch: r.URL.Query().Get("watch") != "",
	}
	// Because of the unknown length, the proxy forwards each part of a watch immediately.
	response := &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: -1, Request: r,
	}
	if r.Header.Get("Upgrade") == "" {
		body, err := c.transport.Open(r.Context(), request)
		response.Body = body
		return response, err
	}
	header, connection, _, err := c.transport.Upgrade(r.Context(), request, handshake(r.Header))
	response.StatusCode, response.ContentLength, response.Header, response.Body = http.StatusSwitchingProtocols, 0, handshake(header), connection
	return response, err
}

// handshake returns only those headers that belong to a WebSocket handshake.
func handshake(all http.Header) http.Header {
	header := http.Header{}
	for name, values := range all {
		if name == "Connection" || name == "Upgrade" || strings.HasPrefix(name, "Sec-Websocket-") {
			header[name] = values
		}
	}
	return header
}
