// Command browser serves what run.mjs measures: a page, client-go for it, and an API server with as many Pods as the path says.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
)

func main() {
	s := &server{turn: newTurn(), collections: map[string]*collection{"1000": newCollection(1000), "10000": newCollection(10000)}}
	mux := http.NewServeMux()
	mux.Handle("/", files(os.Args[1]))
	mux.Handle("/clientgo/", http.StripPrefix("/clientgo", files(os.Args[2])))
	mux.HandleFunc("/n/{pods}/api/v1/pods", s.pods)
	mux.HandleFunc("POST /order", s.order)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("http://" + listener.Addr().String())
	log.Fatal(http.Serve(listener, mux))
}

// files serves a folder to pages that may measure their memory.
func files(folder string) http.Handler {
	served := http.FileServer(http.Dir(folder))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
		w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
		w.Header().Set("Cache-Control", "no-store")
		served.ServeHTTP(w, r)
	})
}
