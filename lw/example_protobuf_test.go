//go:build !js

package lw_test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// podNames is a Codec that keeps the key of each object and the size of its protobuf message.
type podNames struct{ lw.Protobuf }

type podName struct {
	lw.Key
	version string
	size    int
}

func (p podName) GetNamespace() string       { return p.Namespace }
func (p podName) GetName() string            { return p.Name }
func (p podName) GetResourceVersion() string { return p.version }

func (podNames) Decode(s *lw.Scanned) (podName, error) {
	key := lw.Key{Namespace: string(s.Namespace()), Name: string(s.Name())}
	return podName{key, string(s.ResourceVersion()), len(s.Raw())}, nil
}

// podList is a response of an API server: a PodList with one Pod.
const podList = "k8s\x00" +
	"\n\r\n\x02v1\x12\aPodList" + // apiVersion and kind
	"\x12\x19" +
	"\n\x04\x12\x0212" + // resourceVersion of the list
	"\x12\x11\n\x0f\n\x03web\x1a\x04shop2\x0212" // a Pod with its metadata

type fixedResponse string

func (r fixedResponse) Open(_ context.Context, req *lw.Request) (io.ReadCloser, error) {
	fmt.Println("Accept:", req.Accept)
	return io.NopCloser(strings.NewReader(string(r))), nil
}

// Decode protobuf messages with a custom codec. See [lw/codec.Protobuf] for a codec of Kubernetes' Go types.
func ExampleProtobuf() {
	client, err := lw.NewClient(fixedResponse(podList), lw.Pods(""), podNames{}, nil)
	if err != nil {
		panic(err)
	}
	var meta lw.ListMeta
	for pod, err := range client.List(context.Background(), lw.ListOptions{}, &meta) {
		fmt.Println(pod.Key, pod.version, err)
	}
	fmt.Println(meta.Kind, meta.ResourceVersion)
	// Output:
	// Accept: application/vnd.kubernetes.protobuf;drop=metadata.managedFields
	// shop/web 12 <nil>
	// PodList 12
}
