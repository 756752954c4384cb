// Package browser serves a dashboard for Kubernetes-style API servers. The page consists of plain ES modules. It
// imports the package in wasm/ through the symbolic link listwatch. Any file server can serve the page, for example
// kubectl proxy --www. The handler of this package adds a content security policy.
package browser

import "net/http"

// policy allows only the page's own scripts and styles, WebAssembly, and connections to any API server.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; worker-src 'self'; " +
	"connect-src *; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler returns a handler that serves the files of a folder with a content security policy.
func Handler(folder string) http.Handler {
	files := http.FileServer(http.Dir(folder))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cache-Control", "no-cache") // the browser must not combine old scripts with a new WASM module
		files.ServeHTTP(w, r)
	})
}
