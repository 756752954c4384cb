package serve

import (
	"encoding/binary"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

// Protobuf encodes an object of the group version v1, such as a Pod or a PodList, in protobuf.
func Protobuf(object runtime.Object) []byte {
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	return harness.MustGet(runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion), object))
}

// ProtobufEvent encodes a MODIFIED event in the format of a watch: its length in four bytes, and then the event in
// protobuf.
func ProtobufEvent(object runtime.Object) []byte {
	event := metav1.WatchEvent{Type: "MODIFIED", Object: runtime.RawExtension{Raw: Protobuf(object)}}
	frame := harness.MustGet(event.Marshal())
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)
}
