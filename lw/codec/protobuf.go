//go:build !js

package codec

import (
	"errors"
	"reflect"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Protobuf returns a codec of T, a pointer to a Go type of k8s.io/api such as *corev1.Pod. The client must set
// lw.ClientOptions.Protobuf, so this function does not exist for GOOS=js. The codec is safe for concurrent use.
//
// The kind and apiVersion of decoded objects are empty, as in client-go. After a relist, an object with the same key,
// UID and resourceVersion counts as unchanged, because a decoded struct cannot be compared with an encoded message.
func Protobuf[T message]() lw.Codec[T] { return asProtobuf[T]{} }

// message is implemented by the generated Kubernetes types with protobuf support.
type message interface {
	lw.Keyed
	Unmarshal(data []byte) error
}

type asProtobuf[T message] struct{}

// Decode implements [lw.Codec]. It returns the error of T's Unmarshal method, or a *[fieldError] if T's methods return
// a namespace, name or resourceVersion that differs from the message.
func (asProtobuf[T]) Decode(s *lw.Scanned) (T, error) {
	if raw := s.Raw(); len(raw) > 0 && raw[0] == '{' {
		var none T
		return none, errJSON
	}
	object := reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
	if err := object.Unmarshal(s.Raw()); err != nil {
		return object, err
	}
	return object, checkKey(object, s)
}

// Identity implements [lw.Codec]. See [asJSON.Identity].
func (asProtobuf[T]) Identity() lw.Identity[T] { return lw.Identity[T]{UID: uidOf[T]} }

// errJSON reports that a client with the codec [Protobuf] has requested JSON. JSON is recognized by its first byte: in
// a protobuf message, a brace would mean field 15 with a wire type that is no longer used.
var errJSON = errors.New("codec.Protobuf received JSON: set lw.ClientOptions.Protobuf")
