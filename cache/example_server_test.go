//go:build !js

package cache_test

import (
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// serve starts an embedded server and returns it with a client for the Pods of a namespace. end stops the server.
func serve(namespace string) (server *lwtest.Server, pods *lw.Client[*lw.Object], end func()) {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	transport, err := lwhttp.New(server.URL, nil)
	if err != nil {
		panic(err)
	}
	pods, err = lw.NewClient(transport, lw.Pods(namespace), lw.RawCodec{}, nil)
	if err != nil {
		panic(err)
	}
	return server, pods, func() { transport.Close(); server.Close() }
}

// put writes a Pod and returns its resourceVersion.
func put(server *lwtest.Server, namespace, name, node string) string {
	pod, err := server.Put("pods", `{"metadata":{"namespace":"`+namespace+`","name":"`+name+`"},"spec":{"nodeName":"`+node+`"}}`)
	if err != nil {
		panic(err)
	}
	return pod.GetResourceVersion()
}
