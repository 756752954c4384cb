package clientgo

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// BenchmarkRead compares the cost of reading a Pod: listwatch's cache decodes it, and client-go's copies a struct.
func BenchmarkRead(b *testing.B) {
	text, err := lw.ParseObject([]byte(sample.Pods(7, 1)[0].JSON()))
	require.NoError(b, err)
	for name, example := range map[string]runtime.Object{"unstructured": &unstructured.Unstructured{}, "typed": &corev1.Pod{}} {
		decoder := newDecoder(example)
		object, err := decoder.decode(text)
		require.NoError(b, err)
		stored := map[string]encoded{"JSON": text}
		if pod, ok := object.(*corev1.Pod); ok {
			data, err := pod.Marshal()
			require.NoError(b, err)
			stored["protobuf"], err = messageOf(data, pod)
			require.NoError(b, err)
		}
		b.Run(name+"/copy", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				object.DeepCopyObject()
			}
		})
		for encoding, stored := range stored {
			b.Run(name+"/"+encoding, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := decoder.decode(stored); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
