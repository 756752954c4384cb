//go:build !js

package ws_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/ws"
)

// A CloseError contains the code with which the server closed a WebSocket unexpectedly.
func ExampleCloseError() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	server.Fail(lwtest.Watches, 1, lwtest.ReplaceFrame(-1, func([]byte) ([]byte, bool) {
		return append([]byte{0x88, 12, 1001 >> 8, 1001 & 0xff}, "going away"...), false // a close frame
	}))
	base, err := lwhttp.New(server.URL, nil)
	if err != nil {
		panic(err)
	}
	defer base.Close()
	transport := ws.New(base)
	body, err := transport.Open(context.Background(), &lw.Request{Path: "/api/v1/pods", Query: "watch=1&resourceVersion=1", Watch: true})
	if err != nil {
		panic(err)
	}
	defer body.Close()
	_, err = io.ReadAll(body)
	closed, ok := errors.AsType[*ws.CloseError](err)
	fmt.Println(ok, closed.Code)
	fmt.Println(err)
	// Output:
	// true 1001
	// the server closed the WebSocket with code 1001: going away
}
