// Command browser serves the files and the API that run.mjs measures: a page, client-go for that page, and collections of Pods. It
// prints its URL. Its arguments are the folder of the page and the folder of client-go.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
)

func main() {
	s := &server{
		orders:      serve.NewOrders[order](),
		collections: map[string]*collection{"1000": newCollection(1000), "10000": newCollection(10000)},
	}
	mux := http.NewServeMux()
	mux.Handle("/", serve.Isolated(http.FileServer(http.Dir(os.Args[1]))))
	mux.Handle("/clientgo/", http.StripPrefix("/clientgo", serve.Isolated(http.FileServer(http.Dir(os.Args[2])))))
	mux.HandleFunc("/n/{pods}/api/v1/pods", s.servePods)
	mux.HandleFunc("POST /order", s.serveOrder)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("http://" + listener.Addr().String())
	log.Fatal(http.Serve(listener, mux))
}
