//go:build !js

// Command serve runs the test server of internal/testkit/wire on a loopback address and prints its URL. It exits when
// its standard input is closed.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/wire"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("http://" + listener.Addr().String())
	server := &http.Server{Handler: wire.Handler(), ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	_ = server.Serve(listener)
}
