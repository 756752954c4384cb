package clientgo

import (
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// handle represents a stored object for readers that copy each object. Its DeepCopyObject method decodes a new struct
// instead of copying a decoded one, so no decoded struct stays in memory.
type handle struct {
	metav1.Object // noMetadata; readers need only the metadata that the methods below return
	decoder       *decoder
	object        *object
	shared        bool // the reader wants to share nested values with other readers
}

// noMetadata is empty. Each *handle embeds it, so that all methods of metav1.Object exist. All handles share it, so
// nothing may call its setters.
var noMetadata metav1.Object = &metav1.ObjectMeta{}

// handle returns a *handle for o. If the store keeps the transform's result instead of an encoding, handle returns the
// result. If an earlier attempt to decode o failed, handle returns its error.
func (d *decoder) handle(o *object, shared bool) (any, error) {
	if known := o.decoded.Load(); known != nil && (known.strong != nil || known.err != nil) {
		return known.strong, known.err
	}
	return &handle{noMetadata, d, o, shared}, nil
}

// GetObjectKind implements [runtime.Object].
func (*handle) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject decodes a new struct. If h.shared is set, the struct shares nested values with the structs of other
// readers. Otherwise, it shares no memory with other structs. It cannot return an error. Therefore, if decoding fails,
// it returns an *undecodable, which readers reject, and the indexer reports the error to the next reader.
func (h *handle) DeepCopyObject() runtime.Object {
	object, err := h.decoder.newStruct(h.object, h.shared)
	if err != nil {
		h.object.decoded.Store(&decoded{err: err})
		return &undecodable{h}
	}
	return object
}

// structOf returns obj, or the decoded struct if obj is a *handle.
func structOf(obj any) any {
	if h, ok := obj.(*handle); ok {
		return h.DeepCopyObject()
	}
	return obj
}

// newStruct decodes an object into a struct that the caller may modify. A decoded struct may still be in memory, for
// example because a handler has just received it. In that case, newStruct copies the decoded struct, because decoding
// is slower. If shared is set, only the outermost struct or map is new. It must be new, because controller-runtime sets
// the kind in it.
func (d *decoder) newStruct(o *object, shared bool) (runtime.Object, error) {
	if shared {
		value, err := d.read(o, true)
		if err != nil {
			return nil, err
		}
		if u, ok := value.(*unstructured.Unstructured); ok {
			return &unstructured.Unstructured{Object: maps.Clone(u.Object)}, nil
		}
		outer := reflect.New(d.example.Elem())
		outer.Elem().Set(reflect.ValueOf(value).Elem())
		return outer.Interface().(runtime.Object), nil
	}
	if known, ok := d.value(o.decoded.Load()).(runtime.Object); ok {
		return known.DeepCopyObject(), nil
	}
	return d.decode(o.encoded)
}

// Readers use the metadata to match labels. None of these methods decodes the whole object. GetLabels decodes the metadata
// of a protobuf object, but a reader that selects all objects does not call it.

func (h *handle) GetNamespace() string         { return h.object.GetNamespace() }
func (h *handle) GetName() string              { return h.object.GetName() }
func (h *handle) GetUID() types.UID            { return types.UID(h.object.GetUID()) }
func (h *handle) GetResourceVersion() string   { return h.object.GetResourceVersion() }
func (h *handle) GetLabels() map[string]string { return labelsOf(h.object) }

// undecodable is the copy of an object that cannot be decoded. Its type name appears in controller-runtime's error.
type undecodable struct{ *handle }

// labelsOf returns the labels of a stored object. It decodes only the object's metadata. If the store keeps the
// transform's result, it returns that result's labels.
func labelsOf(o *object) map[string]string {
	if known := o.decoded.Load(); known != nil && known.strong != nil {
		if result, err := meta.Accessor(known.strong); err == nil {
			return result.GetLabels()
		}
		return nil // a result without metadata has no labels
	}
	if m, ok := o.encoded.(*message); ok {
		var partial metav1.PartialObjectMetadata
		_ = m.into(&partial) // cannot fail, because package lw has already read the metadata
		return partial.Labels
	}
	labels := map[string]string{}
	for name, value := range jsonOf(o.encoded).Get("metadata.labels").Members() {
		labels[name] = value.String()
	}
	return labels
}
