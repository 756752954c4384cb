//go:build !js

package lw_test

import (
	"context"
	"fmt"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// size holds the metadata of an object and the length of its protobuf message in bytes.
type size struct {
	namespace, name, version string
	bytes                    int
}

func (s size) GetNamespace() string       { return s.namespace }
func (s size) GetName() string            { return s.name }
func (s size) GetResourceVersion() string { return s.version }

// sizes is a codec that keeps each object's key, resourceVersion and size.
type sizes struct{}

func (sizes) Decode(s *lw.Scanned) (size, error) {
	return size{string(s.Namespace()), string(s.Name()), string(s.ResourceVersion()), len(s.Raw())}, nil
}

func (sizes) Identity() lw.Identity[size] { return lw.Identity[size]{} }

// field returns the protobuf encoding of a field. The value is a string or a nested message of up to 127 bytes.
func field(number byte, value string) string {
	return string([]byte{number<<3 | 2, byte(len(value))}) + value
}

// With the option Protobuf, a codec receives the protobuf message of each object.
func ExampleClientOptions_protobuf() {
	pod := field(1, field(1, "web-0")+field(3, "shop")+field(6, "7")) // metadata: name, namespace, resourceVersion
	list := field(1, field(2, "9")) + field(2, pod)
	kind := field(1, "v1") + field(2, "PodList")
	response := file("k8s\x00" + field(1, kind) + field(2, list))

	client, err := lw.NewClient(response, lw.Pods(""), sizes{}, &lw.ClientOptions{Protobuf: true})
	if err != nil {
		panic(err)
	}
	page := client.List(context.Background(), lw.ListOptions{})
	for pod, err := range page.Objects {
		fmt.Println(lw.KeyOf(pod), pod.bytes, err)
	}
	fmt.Println("resourceVersion", page.ResourceVersion)
	// Output:
	// shop/web-0 18 <nil>
	// resourceVersion 9
}
