package lwtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
)

// fields is a decoded JSON object. Numbers are json.Number values, so they keep all digits.
type fields = map[string]any

// object is an encoded object at one resourceVersion. It is immutable, so lists and watches share it.
type object struct {
	namespace, name, uid string
	version              string // metadata.resourceVersion
	labels               map[string]string
	item                 []byte // JSON of the object as a list item
	meta                 []byte // JSON of the metadata, a subslice of item
}

// kube-apiserver encodes the following keys in this order. It sorts all other keys.
var (
	metaOrder = []string{
		"name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
		"deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences",
		"finalizers", "managedFields",
	}
	managedOrder = []string{"manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"}
)

// decodeFields decodes a JSON object. It returns an error for null and for data after the object.
func decodeFields(data []byte) (fields, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var f fields
	if err := dec.Decode(&f); err != nil {
		return nil, err
	}
	if f == nil {
		return nil, fmt.Errorf("null is not an object")
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("unexpected data after the JSON object")
	}
	return f, nil
}

// metadata returns the metadata of an object. If the object has none, metadata adds an empty object.
func metadata(f fields) (fields, error) {
	switch m := f["metadata"].(type) {
	case fields:
		return m, nil
	case nil:
		m = fields{}
		f["metadata"] = m
		return f["metadata"].(fields), nil
	}
	return nil, fmt.Errorf("metadata is not an object")
}

func text(f fields, key string) string {
	s, _ := f[key].(string)
	return s
}

func labelsOf(meta fields) (map[string]string, error) {
	given, ok := meta["labels"].(fields)
	if !ok && meta["labels"] != nil {
		return nil, fmt.Errorf("metadata.labels is not an object")
	}
	labels := make(map[string]string, len(given))
	for key, value := range given {
		s, ok := value.(string)
		if !ok {
			return nil, fmt.Errorf("metadata.labels[%q] is not a string", key)
		}
		labels[key] = s
	}
	return labels, nil
}

// encodeObject encodes f, whose metadata must be complete.
func encodeObject(res *Resource, f fields) (*object, error) {
	meta, err := metadata(f)
	if err != nil {
		return nil, err
	}
	o := &object{
		namespace: text(meta, "namespace"), name: text(meta, "name"),
		uid: text(meta, "uid"), version: text(meta, "resourceVersion"),
	}
	if o.labels, err = labelsOf(meta); err != nil {
		return nil, err
	}
	encoded, first := maps.Clone(f), []string(nil)
	encodedMeta := encodeMeta(res, meta)
	encoded["metadata"] = json.RawMessage(encodedMeta)
	if res.builtin {
		first = []string{"metadata"}
	}
	o.item = encodeOrdered(encoded, first)
	at := bytes.Index(o.item, encodedMeta)
	o.meta = o.item[at : at+len(encodedMeta)] // shares memory with item
	return o, nil
}

func encodeMeta(res *Resource, meta fields) []byte {
	if !res.builtin {
		return marshal(meta)
	}
	shown := maps.Clone(meta)
	if entries, ok := meta["managedFields"].([]any); ok {
		raw := make([]json.RawMessage, len(entries))
		for i, entry := range entries {
			if managed, ok := entry.(fields); ok {
				raw[i] = encodeOrdered(managed, managedOrder)
			} else {
				raw[i] = marshal(entry)
			}
		}
		shown["managedFields"] = raw
	}
	return encodeOrdered(shown, metaOrder)
}

func encodeOrdered(f fields, first []string) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, key := range ordered(f, first) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(marshal(key))
		b.WriteByte(':')
		b.Write(marshal(f[key]))
	}
	b.WriteByte('}')
	return b.Bytes()
}

// ordered returns the keys of f in encoding order: the keys listed in `first`, and then all other keys in sorted order.
func ordered(f fields, first []string) []string {
	keys := make([]string, 0, len(f))
	for _, key := range first {
		if _, ok := f[key]; ok {
			keys = append(keys, key)
		}
	}
	n := len(keys)
	for key := range f {
		if !slices.Contains(first, key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys[n:])
	return keys
}

// marshal returns the JSON encoding of v. It panics if v cannot be encoded.
func marshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("lwtest: encode %T: %v", v, err))
	}
	return data
}

// decode returns the fields of the object. The caller may modify them.
func (o *object) decode() fields { return mustDecode(o.item) }

// withVersion returns a copy of the object with a different resourceVersion. A DELETED event contains the last state of
// the object, but with the resourceVersion of the deletion.
func (o *object) withVersion(res *Resource, revision int64) *object {
	f := o.decode()
	f["metadata"].(fields)["resourceVersion"] = strconv.FormatInt(revision, 10)
	changed, err := encodeObject(res, f)
	if err != nil {
		panic(fmt.Sprintf("lwtest: encode a stored object: %v", err))
	}
	return changed
}

// whole returns the JSON of the object with kind and apiVersion, as in GET responses and watch events.
func (o *object) whole(res *Resource) []byte {
	if !res.builtin {
		return o.item
	}
	return slices.Concat([]byte(`{"kind":"`+res.Kind+`","apiVersion":"`+res.apiVersion()+`",`), o.item[1:])
}
