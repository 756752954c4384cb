//go:build !js

package codec

import (
	"reflect"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Message is a Go type of k8s.io/api, for example *corev1.Pod.
type Message interface {
	lw.Keyed
	Unmarshal(data []byte) error
}

// Protobuf is the [lw.Codec] of T, a pointer to a Kubernetes type. The client requests Kubernetes' protobuf encoding, which
// costs less time to decode than JSON. API servers have it for built-in types only. The zero value is ready for use, by
// several goroutines at once.
//
// As in client-go, an object has no kind and no apiVersion.
type Protobuf[T Message] struct{ lw.Protobuf }

// Decode implements [lw.Codec]. The error is that of T's method Unmarshal, or a *[FieldError] if the object's metadata differs
// from the event's.
func (Protobuf[T]) Decode(s *lw.Scanned) (T, error) {
	object := reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
	if err := object.Unmarshal(s.Raw()); err != nil {
		return object, err
	}
	return object, checkKey(object, s)
}
