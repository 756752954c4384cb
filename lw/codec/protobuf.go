//go:build !js

package codec

import (
	"reflect"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Protobuf is the [lw.Codec] of T, a pointer to a Go type of k8s.io/api such as *corev1.Pod. The client requests
// Kubernetes' protobuf encoding, which decodes faster than JSON. API servers support it only for built-in types. The
// zero value is ready for use and safe for concurrent use.
//
// The kind and apiVersion of decoded objects are empty, as in client-go.
type Protobuf[T interface {
	lw.Keyed
	Unmarshal(data []byte) error
}] struct{ lw.Protobuf }

// Decode implements [lw.Codec]. It returns the error of T's Unmarshal method, or a *[FieldError] if the metadata of the
// object differs from that of the event.
func (Protobuf[T]) Decode(s *lw.Scanned) (T, error) {
	object := reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
	if err := object.Unmarshal(s.Raw()); err != nil {
		return object, err
	}
	return object, checkKey(object, s)
}
