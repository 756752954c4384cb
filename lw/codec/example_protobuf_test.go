//go:build !js

package codec_test

import (
	"fmt"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
	"github.com/seed-6d2a410a/listwatch/transport/http"
)

// protoPod stands for *corev1.Pod of k8s.io/api, which has these methods.
type protoPod struct{ lw.Key }

func (p *protoPod) GetNamespace() string        { return p.Namespace }
func (p *protoPod) GetName() string             { return p.Name }
func (p *protoPod) GetResourceVersion() string  { return "" }
func (p *protoPod) Unmarshal(data []byte) error { return nil }

// Receive Kubernetes' Go types as protobuf. With k8s.io/api, use codec.Protobuf[*corev1.Pod].
func ExampleProtobuf() {
	transport, err := http.New("http://127.0.0.1:8001", nil)
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	client, err := lw.NewClient(transport, lw.Pods("shop"), codec.Protobuf[*protoPod]{}, nil)
	fmt.Println(client, err)
	// Output: shop/pods <nil>
}
