// Package browser is a dashboard for any Kubernetes-style API server: a page of plain ES modules over the package in wasm/,
// which the symbolic link listwatch leads to. Any server of files will do, kubectl proxy --www for one; this one adds what
// makes the page safer.
package browser

import "net/http"

// policy is all that the page needs: scripts and styles of its own, WebAssembly, and API servers wherever they are.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; worker-src 'self'; " +
	"connect-src *; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler serves the page from the folder of this package, under a content security policy.
func Handler(folder string) http.Handler {
	files := http.FileServer(http.Dir(folder))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cache-Control", "no-cache") // else a new program would meet old scripts
		files.ServeHTTP(w, r)
	})
}
