//go:build !js

// Command stage is the server for tests of the npm package in Node and browsers. It serves the npm package in wasm/
// and the test pages under a content security policy. It also runs API servers that the tests control, and package
// wire's server for Go tests in WebAssembly. It prints its URL and exits when its standard input is closed. Start
// it in the repository's root.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/examples/browser"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/wire"
)

// policy is the strictest content security policy under which the package and the test pages work. The API servers use
// other ports, so requests may go to any host. The pages have an empty icon in a data URL.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src http: ws:; img-src data:"

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	pages, mux := http.NewServeMux(), http.NewServeMux()
	pages.Handle("/", http.FileServer(http.Dir("e2e/browser/page")))
	library := http.FileServer(http.Dir("wasm"))
	pages.Handle("/listwatch/", http.StripPrefix("/listwatch/", library))
	pages.Handle("/untyped/", http.StripPrefix("/untyped/", untyped(library)))
	pages.Handle("/ui/", http.StripPrefix("/ui/", browser.Handler("examples/browser"))) // sets a different policy
	pages.Handle("POST /control", &control{origin: url, clusters: map[string]*cluster{}})
	mux.Handle("/", guarded(pages))
	mux.Handle("/wire/", http.StripPrefix("/wire", wire.Handler()))
	fmt.Println(url)
	server := &http.Server{Handler: mux}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	_ = server.Serve(listener)
}

// guarded adds the content security policy to the responses of a handler.
func guarded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cache-Control", "no-cache")
		h.ServeHTTP(w, r)
	})
}

// untyped returns a handler that serves WASM modules with a wrong Content-Type, like a badly configured server.
func untyped(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".wasm") {
			w.Header().Set("Content-Type", "application/octet-stream")
		}
		h.ServeHTTP(w, r)
	})
}

// control runs the commands that tests send as JSON objects of type command.
type control struct {
	origin   string
	mu       sync.Mutex
	clusters map[string]*cluster
}

func (c *control) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var cmd command
	if err := json.NewDecoder(r.Body).Decode(&cmd); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	result, err := c.do(&cmd)
	if err != nil {
		http.Error(w, cmd.Do+": "+err.Error(), http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(result)
}
