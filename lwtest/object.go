package lwtest

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	mathrand "math/rand/v2"
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
	item                 []byte    // JSON of the object as a list item
	meta                 []byte    // JSON of the metadata, a subslice of item
	defines              *resource // resource that a CustomResourceDefinition defines
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

// encodeObject encodes f, whose metadata must be complete.
func encodeObject(res *resource, f fields) (*object, error) {
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
	encoded, encodedMeta := maps.Clone(f), marshal(meta)
	var first []string
	if res.builtin {
		encodedMeta, first = encodeMeta(meta), []string{"metadata"}
	}
	encoded["metadata"] = json.RawMessage(encodedMeta)
	o.item = encodeOrdered(encoded, first)
	at := bytes.Index(o.item, encodedMeta)
	o.meta = o.item[at : at+len(encodedMeta)] // shares memory with item
	return o, nil
}

func encodeMeta(meta fields) []byte {
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
	return mustEncode(res, f)
}

// mustEncode is like encodeObject for fields that are known to be valid.
func mustEncode(res *resource, f fields) *object {
	o, err := encodeObject(res, f)
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

// suffix returns n random characters for generateName. The alphabet contains no vowels, so the characters do not form
// words.
func suffix(n int) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[mathrand.IntN(len(alphabet))]
	}
	return string(b)
}

func newUID() string {
	var b [16]byte
	rand.Read(b[:]) // rand.Read never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// manage updates metadata.managedFields in f. A field belongs to the manager that changed it last. To keep this simple,
// only the first two levels of fields are compared.
func manage(res *resource, old, f fields, manager string, now string) {
	meta := f["metadata"].(fields)
	present, changed := owned(f, nil), owned(f, old)
	entries, _ := meta["managedFields"].([]any)
	mine := changed
	var kept []any
	for _, e := range entries {
		entry := e.(fields)
		set := entry["fieldsV1"].(fields)
		if text(entry, "manager") == manager && text(entry, "subresource") == "" {
			mine = union(intersect(set, present), changed)
			continue
		}
		if set = subtract(intersect(set, present), changed); len(set) > 0 {
			entry["fieldsV1"] = set
			kept = append(kept, entry)
		}
	}
	if len(mine) > 0 {
		kept = append(kept, fields{
			"manager": manager, "operation": "Update", "apiVersion": res.apiVersion(),
			"time": now, "fieldsType": "FieldsV1", "fieldsV1": mine,
		})
	}
	delete(meta, "managedFields")
	if len(kept) > 0 {
		meta["managedFields"] = kept
	}
}

// owned returns the fields in which f differs from old, in the fieldsV1 format.
func owned(f, old fields) fields {
	set := fields{}
	for key, value := range f {
		switch key {
		case "kind", "apiVersion":
		case "metadata":
			was, _ := old["metadata"].(fields)
			for _, part := range []string{"labels", "annotations", "ownerReferences", "finalizers"} {
				add(set, "f:metadata", part, value.(fields)[part], was[part])
			}
		default:
			addTree(set, key, value, old[key])
		}
	}
	return set
}

func add(set fields, parent, key string, value, was any) {
	sub := fields{}
	addTree(sub, key, value, was)
	if len(sub) == 0 {
		return
	}
	if set[parent] == nil {
		set[parent] = fields{}
	}
	set[parent].(fields)["f:"+key] = sub["f:"+key]
}

func addTree(set fields, key string, value, was any) {
	if value == nil || reflect.DeepEqual(value, was) {
		return
	}
	leaf := fields{}
	if children, ok := value.(fields); ok {
		before, _ := was.(fields)
		if before == nil {
			leaf["."] = fields{}
		}
		for child, v := range children {
			if !reflect.DeepEqual(v, before[child]) {
				leaf["f:"+child] = fields{}
			}
		}
	}
	set["f:"+key] = leaf
}

func union(a, b fields) fields {
	out := maps.Clone(a)
	for key, value := range b {
		if have, ok := out[key].(fields); ok {
			out[key] = union(have, value.(fields))
		} else {
			out[key] = value
		}
	}
	return out
}

func intersect(a, b fields) fields {
	out := fields{}
	for key, value := range a {
		if other, ok := b[key].(fields); ok {
			out[key] = intersect(value.(fields), other)
		}
	}
	return out
}

// subtract returns the fields of a that are not in b. It omits parents that become empty.
func subtract(a, b fields) fields {
	out := fields{}
	for key, value := range a {
		other, ok := b[key].(fields)
		if !ok {
			out[key] = value
			continue
		}
		if rest := subtract(value.(fields), other); len(rest) > 0 && strings.HasPrefix(key, "f:") {
			out[key] = rest
		}
	}
	return out
}
