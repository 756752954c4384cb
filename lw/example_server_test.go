//go:build !js

package lw_test

import (
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// serve starts an embedded server with Pods of the given names and returns a client for them. end closes the server and
// the transport.
func serve(names ...string) (server *lwtest.Server, pods *lw.Client[*lw.Object], end func()) {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		put(server, name, "Pending")
	}
	transport, err := lwhttp.New(server.URL, nil)
	if err != nil {
		panic(err)
	}
	pods, err = lw.NewClient(transport, lw.Pods("default"), lw.RawCodec{}, nil)
	if err != nil {
		panic(err)
	}
	return server, pods, func() { transport.Close(); server.Close() }
}

// put writes a Pod and returns its new resourceVersion.
func put(server *lwtest.Server, name, phase string) string {
	pod, err := server.Put("pods", `{"metadata":{"name":"`+name+`"},"status":{"phase":"`+phase+`"}}`)
	if err != nil {
		panic(err)
	}
	return pod.GetResourceVersion()
}
