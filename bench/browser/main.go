// Command browser is the server for the benchmark run.mjs. It serves the benchmark page and Pods, and prints its
// URL. Its argument is the folder that contains the page.
package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
)

// cached lets browsers cache responses forever, because Vite puts a content hash into the names of assets. Without it,
// [serve.Isolated] would disable caching, but the benchmark also measures cached code.
func cached(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		h.ServeHTTP(w, r)
	})
}

func main() {
	page := http.FileServer(http.Dir(os.Args[1]))
	mux := http.NewServeMux()
	mux.Handle("/", serve.Isolated(page))
	mux.Handle("/assets/", serve.Isolated(cached(page)))
	for _, pods := range []int{1000, 10_000} { // page/courses.js chooses the number of Pods with the path
		path := fmt.Sprintf("/n/%d/", pods)
		server := serve.New(serve.Config{Pods: pods, Changed: 1000, Streaming: true, Batch: 10})
		mux.Handle(path+"api/", http.StripPrefix(path[:len(path)-1], server))
		mux.HandleFunc("POST "+path+"order", server.ServeOrder)
	}
	fmt.Println(httptest.NewServer(mux).URL)
	select {}
}
