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

// decoder converts stored objects to and from the Go type of an informer.
type decoder struct {
	example reflect.Type            // Go type of the objects: a pointer to a struct
	kind    schema.GroupVersionKind // set only for PartialObjectMetadata
	fields  []string                // paths of the fields to keep; if empty, all fields are kept
	recent  *recent
}

func newDecoder(example runtime.Object) decoder {
	d := decoder{example: reflect.TypeOf(example), recent: newRecent()}
	if d.metadataOnly() {
		d.kind = example.GetObjectKind().GroupVersionKind()
	}
	return d
}

func (d *decoder) metadataOnly() bool {
	return d.example == reflect.TypeFor[*metav1.PartialObjectMetadata]()
}

// protobuf reports whether the Go type of the informer has protobuf methods.
func (d *decoder) protobuf() bool {
	return !d.metadataOnly() && d.example.Implements(reflect.TypeFor[protobufType]()) && d.example.Implements(reflect.TypeFor[metav1.Object]())
}

// encode encodes object as protobuf if previous is a *message, and otherwise as JSON. It returns nil if object does not
// have the type of the informer or cannot be encoded.
func (d *decoder) encode(object runtime.Object, previous encoded) encoded {
	if reflect.TypeOf(object) != d.example {
		return nil
	}
	var made encoded
	var err error
	if _, ok := previous.(*message); ok {
		made, err = marshal(object)
	} else {
		made, err = marshalJSON(object)
	}
	if err != nil {
		return nil
	}
	return made
}

func marshal(object runtime.Object) (encoded, error) {
	data, err := object.(protobufType).Marshal()
	if err != nil {
		return nil, err
	}
	o := object.(metav1.Object)
	return newMessage(data, []byte(o.GetNamespace()), []byte(o.GetName()), []byte(o.GetUID()), []byte(o.GetResourceVersion()))
}

func marshalJSON(object runtime.Object) (encoded, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return lw.ParseObject(text)
}

// decode decodes a stored object into a new struct. Like client-go's decoder, it leaves TypeMeta of a typed object
// empty.
func (d *decoder) decode(from encoded) (runtime.Object, error) {
	object := reflect.New(d.example.Elem()).Interface().(runtime.Object)
	if m, ok := from.(*message); ok {
		return object, m.into(object.(protobufType))
	}
	text, ok := from.(*lw.Object)
	if !ok {
		text = from.(packed).Object.Object()
	}
	if u, ok := object.(*unstructured.Unstructured); ok {
		return u, codec.Into(text, &u.Object)
	}
	if err := codec.Into(text, object); err != nil {
		return nil, err
	}
	if _, ok := object.(runtime.Unstructured); !ok && !(d.metadataOnly() && d.kind.Empty()) {
		object.GetObjectKind().SetGroupVersionKind(d.kind)
	}
	return object, nil
}
