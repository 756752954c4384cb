package compact_test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cache/compact"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// answer is a fake transport that returns the same response to every request.
type answer string

func (a answer) Open(context.Context, *lw.Request) (*lw.Response, error) {
	return &lw.Response{ReadCloser: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// A program can read the metadata of a compressed object directly. The method Object decompresses the complete object.
func ExampleObject() {
	list := answer(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[
		{"metadata":{"namespace":"shop","name":"web-0","resourceVersion":"7"},"status":{"phase":"Running"}}]}`)
	client, err := lw.NewClient(list, lw.Pods(""), compact.NewCodec(lw.RawCodec{}), nil)
	if err != nil {
		panic(err)
	}
	for pod, err := range client.List(context.Background(), lw.ListOptions{}).Objects {
		if err != nil {
			panic(err)
		}
		fmt.Println(lw.KeyOf(pod), pod.GetResourceVersion(), pod.Object().Get("status.phase"))
	}
	// Output: shop/web-0 7 Running
}
