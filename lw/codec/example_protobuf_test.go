//go:build !js

package codec_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
)

// Pod decodes only the metadata and has a handwritten Unmarshal method. The types of k8s.io/api have a generated
// Unmarshal method.
type Pod struct{ Metadata }

func (p *Pod) Unmarshal(data []byte) error {
	return fields(data, func(number int, metadata []byte) error {
		if number != 1 {
			return nil
		}
		return fields(metadata, func(number int, value []byte) error {
			switch number {
			case 1:
				p.Name = string(value)
			case 3:
				p.Namespace = string(value)
			case 6:
				p.ResourceVersion = string(value)
			}
			return nil
		})
	})
}

// fields calls visit for each field of a protobuf message. It supports only strings and nested messages of up to 127
// bytes.
func fields(data []byte, visit func(number int, value []byte) error) error {
	for len(data) > 0 {
		if len(data) < 2 || data[0]&7 != 2 || len(data) < 2+int(data[1]) {
			return errors.New("unsupported protobuf field")
		}
		end := 2 + int(data[1])
		if err := visit(int(data[0]>>3), data[2:end]); err != nil {
			return err
		}
		data = data[end:]
	}
	return nil
}

// field returns the protobuf encoding of a field. The value is a string or a nested message of up to 127 bytes.
func field(number byte, value string) string {
	return string([]byte{number<<3 | 2, byte(len(value))}) + value
}

// response is a transport that always returns the same response.
type response string

func (r response) Open(context.Context, *lw.Request) (*lw.Response, error) {
	return &lw.Response{ReadCloser: io.NopCloser(strings.NewReader(string(r)))}, nil
}

// The protobuf codec decodes into any type with an Unmarshal method. For the types of k8s.io/api, write
// codec.Protobuf[*corev1.Pod]().
func ExampleProtobuf() {
	pod := field(1, field(1, "web-0")+field(3, "shop")+field(6, "7"))
	list := field(1, field(2, "9")) + field(2, pod)
	kind := field(1, "v1") + field(2, "PodList")
	pods := response("k8s\x00" + field(1, kind) + field(2, list))

	client, err := lw.NewClient(pods, lw.Pods("shop"), codec.Protobuf[*Pod](), &lw.ClientOptions{Protobuf: true})
	if err != nil {
		panic(err)
	}
	for pod, err := range client.List(context.Background(), lw.ListOptions{}).Objects {
		if err != nil {
			panic(err)
		}
		fmt.Println(pod.Namespace, pod.Name, pod.ResourceVersion)
	}
	// Output: shop web-0 7
}
