package lw_test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// file is a transport that returns the same body for each request.
type file string

func (f file) Open(context.Context, *lw.Request) (*lw.Response, error) {
	return &lw.Response{ReadCloser: io.NopCloser(strings.NewReader(string(f)))}, nil
}

// phase contains the fields of a Pod that the program needs.
type phase struct{ namespace, name, version, value string }

func (p phase) GetNamespace() string       { return p.namespace }
func (p phase) GetName() string            { return p.name }
func (p phase) GetResourceVersion() string { return p.version }

// phases decodes Pods into phase values. It copies all data, because a Scanned is valid only until Decode returns.
type phases struct{}

func (phases) Decode(s *lw.Scanned) (phase, error) {
	object, err := lw.ParseValue(s.Raw()) // ParseValue copies the text
	if err != nil {
		return phase{}, err
	}
	return phase{string(s.Namespace()), string(s.Name()), string(s.ResourceVersion()), object.Get("status.phase").String()}, nil
}

// Identity returns functions that compare phases. It has no UID function, because phases have no UID.
func (c phases) Identity() lw.Identity[phase] {
	return lw.Identity[phase]{
		Equal: func(a, b phase) bool { return a == b },
		Same: func(p phase, s *lw.Scanned) bool {
			now, err := c.Decode(s)
			return err == nil && now == p
		},
	}
}

// A custom codec decodes objects into another type.
func ExampleCodec() {
	list := file(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[
		{"metadata":{"namespace":"shop","name":"web-0","resourceVersion":"7"},"status":{"phase":"Running"}}]}`)
	client, err := lw.NewClient(list, lw.Pods(""), phases{}, nil)
	if err != nil {
		panic(err)
	}
	page := client.List(context.Background(), lw.ListOptions{})
	for pod, err := range page.Objects {
		fmt.Println(lw.KeyOf(pod), pod.value, err)
	}
	fmt.Println("resourceVersion", page.ResourceVersion)
	// Output:
	// shop/web-0 Running <nil>
	// resourceVersion 9
}
