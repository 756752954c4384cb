// Package browser serves a dashboard for Kubernetes-style API servers. The page consists of plain ES modules, and the
// symbolic link listwatch points to the package in wasm/. Any file server can serve it, for example kubectl proxy
// --www. The handler of this package adds a content security policy.
package browser

import "net/http"

// policy allows scripts and styles only from the page's origin. It allows WebAssembly, and connections to any API
// server.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; worker-src 'self'; " +
	"connect-src *; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler serves the files of folder with a content security policy.
func Handler(folder string) http.Handler {
	files := http.FileServer(http.Dir(folder))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cache-Control", "no-cache") // a cached script must not load a newer WASM module
		files.ServeHTTP(w, r)
	})
}
