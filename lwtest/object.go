package lwtest

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fields is a decoded JSON object. Numbers are json.Number values, so they keep all digits.
type fields = map[string]any

// object is an encoded object at one resourceVersion. It is immutable, so lists and watches share it.
type object struct {
	namespace, name, uid string
	version              string // metadata.resourceVersion
	labels               map[string]string
	owners               map[fieldPath]owner // the source of metadata.managedFields
	item                 []byte              // JSON of the object as a list item
	meta                 []byte              // JSON of the metadata, a subslice of item
	defines              *resource           // resource that the object defines, or nil if it is not a CustomResourceDefinition
}

// kube-apiserver encodes these keys of built-in objects in this order, before all other keys.
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
	if _, ok := f["metadata"].(fields); !ok && f["metadata"] != nil {
		return nil, fmt.Errorf("metadata is not an object")
	}
	return child(f, "metadata"), nil
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

// encodeObject encodes f. The metadata must be complete, but without managedFields. encodeObject sets managedFields
// from owners.
func encodeObject(res *resource, f fields, owners map[fieldPath]owner) (*object, error) {
	meta := f["metadata"].(fields)
	o := &object{
		namespace: text(meta, "namespace"), name: text(meta, "name"),
		uid: text(meta, "uid"), version: text(meta, "resourceVersion"), owners: owners,
	}
	var err error
	if o.labels, err = labelsOf(meta); err != nil {
		return nil, err
	}
	var first, firstInMeta, firstInManaged []string // kube-apiserver sorts all keys of custom objects
	if res.builtin {
		first, firstInMeta, firstInManaged = []string{"metadata"}, metaOrder, managedOrder
	}
	delete(meta, "managedFields")
	if len(owners) > 0 {
		meta["managedFields"] = encodeManaged(res, owners, firstInManaged)
	}
	encoded, encodedMeta := maps.Clone(f), encodeOrdered(meta, firstInMeta)
	encoded["metadata"] = json.RawMessage(encodedMeta)
	o.item = encodeOrdered(encoded, first)
	at := bytes.Index(o.item, encodedMeta)
	o.meta = o.item[at : at+len(encodedMeta)] // shares memory with item
	return o, nil
}

// encodeOrdered encodes f. The keys listed in first come first, and all other keys follow in sorted order.
func encodeOrdered(f fields, first []string) []byte {
	rank := func(key string) int {
		if i := slices.Index(first, key); i >= 0 {
			return i
		}
		return len(first)
	}
	var b bytes.Buffer
	for _, key := range slices.SortedFunc(maps.Keys(f), func(a, b string) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(a, b))
	}) {
		fmt.Fprintf(&b, ",%s:%s", marshal(key), marshal(f[key]))
	}
	return slices.Concat([]byte("{"), bytes.TrimPrefix(b.Bytes(), []byte(",")), []byte("}"))
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
func (o *object) decode() fields {
	f, err := decodeFields(o.item)
	if err != nil {
		panic("lwtest: decode a stored object: " + err.Error())
	}
	return f
}

// withVersion returns a copy of the object with a different resourceVersion. A DELETED event contains the last state of
// the object, but with the resourceVersion of the deletion.
func (o *object) withVersion(res *resource, revision int64) *object {
	f := o.decode()
	f["metadata"].(fields)["resourceVersion"] = strconv.FormatInt(revision, 10)
	return mustEncode(res, f, o.owners)
}

// mustEncode is like encodeObject for fields that are known to be valid.
func mustEncode(res *resource, f fields, owners map[fieldPath]owner) *object {
	o, err := encodeObject(res, f, owners)
	if err != nil {
		panic(fmt.Sprintf("lwtest: encode a stored object: %v", err))
	}
	return o
}

// partial returns the JSON of the object as PartialObjectMetadata.
func (o *object) partial() []byte {
	return slices.Concat([]byte(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`), o.meta, []byte("}"))
}

// whole returns the JSON of the object with kind and apiVersion, as in GET responses and watch events.
func (o *object) whole(res *resource) []byte {
	if !res.builtin {
		return o.item
	}
	return slices.Concat([]byte(`{"kind":"`+res.kind+`","apiVersion":"`+res.apiVersion()+`",`), o.item[1:])
}

func timestamp() string { return time.Now().UTC().Format(time.RFC3339) }

func newUID() string {
	var b [16]byte
	rand.Read(b[:]) // rand.Read never fails
	// Version 4 and variant 10 mark a random UUID (RFC 9562).
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// fieldPath is the location of a field in the fieldsV1 format, for example {"f:spec", "f:replicas"}.
type fieldPath [3]string

// owner is the manager that last changed a field.
type owner struct{ manager, time string }

// own returns the owner of each field in f. If a field differs from old, its owner becomes the given manager. All other
// fields keep their owners from old. For a new object, old is nil.
func own(old *object, f fields, manager, now string) map[fieldPath]owner {
	var before map[fieldPath]any
	if old != nil {
		before = ownable(old.decode())
	}
	owners := map[fieldPath]owner{}
	for p, value := range ownable(f) {
		if was, ok := before[p]; !ok || !reflect.DeepEqual(value, was) {
			owners[p] = owner{manager, now}
		} else if o, ok := old.owners[p]; ok { // a binding sets fields that have no owner
			owners[p] = o
		}
	}
	return owners
}

// ownable returns the values of all fields that have an owner. To keep this simple, a field on the second level
// includes all fields below it. A nested JSON object also has an owner itself, at a path that ends with ".".
func ownable(f fields) map[fieldPath]any {
	found := map[fieldPath]any{}
	add := func(p fieldPath, value any) {
		members, ok := value.(fields)
		if !ok {
			found[p] = value
			return
		}
		end := slices.Index(p[:], "")
		p[end] = "."
		found[p] = true
		for name, member := range members {
			p[end] = "f:" + name
			found[p] = member
		}
	}
	for key, value := range f {
		switch key {
		case "kind", "apiVersion":
		case "metadata":
			for _, part := range []string{"labels", "annotations", "ownerReferences", "finalizers"} {
				add(fieldPath{"f:metadata", "f:" + part}, value.(fields)[part])
			}
		default:
			add(fieldPath{"f:" + key}, value)
		}
	}
	maps.DeleteFunc(found, func(_ fieldPath, value any) bool { return value == nil })
	return found
}

// encodeManaged returns the encoded entries of metadata.managedFields, one per manager. The manager of the latest
// change comes last.
func encodeManaged(res *resource, owners map[fieldPath]owner, first []string) (encoded []json.RawMessage) {
	entries := fields{}
	for p, o := range owners {
		entry := child(entries, o.manager)
		entry["time"] = max(text(entry, "time"), o.time)
		set := child(entry, "fieldsV1")
		for _, key := range p {
			if key != "" {
				set = child(set, key)
			}
		}
	}
	for _, manager := range slices.SortedFunc(maps.Keys(entries), func(a, b string) int {
		return cmp.Or(strings.Compare(text(entries[a].(fields), "time"), text(entries[b].(fields), "time")), strings.Compare(a, b))
	}) {
		entry := entries[manager].(fields)
		maps.Copy(entry, fields{"manager": manager, "operation": "Update", "apiVersion": res.apiVersion(), "fieldsType": "FieldsV1"})
		encoded = append(encoded, encodeOrdered(entry, first))
	}
	return encoded
}
