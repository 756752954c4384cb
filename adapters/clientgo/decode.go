package clientgo

import (
	"encoding/json"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
)

// This file is the only one that knows the format of the stored bytes.

// decoder converts between stored bytes and the Go type of one informer.
type decoder struct {
	example reflect.Type            // a pointer to a struct
	kind    schema.GroupVersionKind // for PartialObjectMetadata: the kind that the example has
	recent  *recent
}

func newDecoder(example runtime.Object) decoder {
	d := decoder{example: reflect.TypeOf(example), recent: newRecent()}
	if d.metadataOnly() {
		d.kind = example.GetObjectKind().GroupVersionKind()
	}
	return d
}

// metadataOnly reports whether the informer requests PartialObjectMetadata.
func (d *decoder) metadataOnly() bool {
	return d.example == reflect.TypeFor[*metav1.PartialObjectMetadata]()
}

// encode returns the bytes that decode reads, or nil if object has another type.
func (d *decoder) encode(object runtime.Object) *lw.Object {
	if reflect.TypeOf(object) != d.example {
		return nil
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil
	}
	parsed, err := lw.ParseObject(text)
	if err != nil {
		return nil
	}
	return parsed
}

// decode returns a new object. Like client-go's decoder it leaves TypeMeta of a typed object empty.
func (d *decoder) decode(from *lw.Object) (runtime.Object, error) {
	object := reflect.New(d.example.Elem()).Interface().(runtime.Object)
	if u, ok := object.(*unstructured.Unstructured); ok {
		return u, codec.Into(from, &u.Object)
	}
	if err := codec.Into(from, object); err != nil {
		return nil, err
	}
	if _, ok := object.(runtime.Unstructured); !ok && !(d.metadataOnly() && d.kind.Empty()) {
		object.GetObjectKind().SetGroupVersionKind(d.kind)
	}
	return object, nil
}
