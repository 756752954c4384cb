package clientgo

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/maphash"
	"reflect"
	"sync/atomic"
	"unsafe"
	"weak"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/cache/compact"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
)

// errNilResult is the decode error of an object for which the transform returned nil.
var errNilResult = errors.New("clientgo: the transform returned nil")

// objectCodec converts JSON and protobuf to stored objects. It implements [lw.Codec].
type objectCodec struct {
	decoder   *decoder
	text      *textCodec                // decodes JSON
	packing   lw.Codec[*compact.Object] // compresses the objects of text; nil without Extras.Compress
	repeated  *repetitions              // nil if the informer stores no *slim
	transform cache.TransformFunc       // set before the informer runs; may be nil
	report    func(*object, error)      // reports an object that cannot be decoded or transformed
}

// newCodec returns the codec of an informer. It panics if opts.Fields returns a malformed path.
func newCodec(d *decoder, example runtime.Object, opts *Extras, report func(*object, error)) *objectCodec {
	c := &objectCodec{decoder: d, text: &textCodec{Codec: lw.RawCodec{}}, report: report}
	if opts.Fields != nil {
		d.fields = opts.Fields(example)
	}
	if len(d.fields) > 0 {
		projection, err := lw.Project(d.fields...)
		if err != nil {
			panic(err) // client-go's constructors cannot return an error
		}
		c.text.Codec = projection
	}
	if opts.Compress {
		c.packing = compact.NewCodec(c.text)
	}
	if !opts.DropManagedFields && len(d.fields) == 0 && d.restoresFields() {
		c.repeated = &repetitions{seed: maphash.MakeSeed()}
	}
	return c
}

// textCodec is the [lw.Codec] for objects in JSON. While parsed is set, Decode ignores its parameter and returns
// parsed. A restore uses this to compress objects that it has read from a file.
type textCodec struct {
	lw.Codec[*lw.Object]
	parsed *lw.Object // set only during a restore, when the informer decodes nothing else
}

func (c *textCodec) Decode(s *lw.Scanned) (*lw.Object, error) {
	if c.parsed != nil {
		return c.parsed, nil
	}
	return c.Codec.Decode(s)
}

// packed is a compressed object in the store. It implements [encoded].
type packed struct{ *compact.Object }

// Raw returns the uncompressed JSON.
func (p packed) Raw() string { return p.Object.Object().Raw() }

// protobuf reports whether the informer may request protobuf. Compression and projection to fields need JSON.
func (c *objectCodec) protobuf() bool {
	return c.decoder.protobuf() && len(c.decoder.fields) == 0 && c.packing == nil
}

// isJSON recognizes JSON by its first byte. In protobuf, a brace would begin a group, which the Kubernetes types do not
// use.
func isJSON(data []byte) bool { return len(data) > 0 && data[0] == '{' }

// Decode implements [lw.Codec]. It decodes the object into its Go struct only if the informer has a transform.
func (c *objectCodec) Decode(s *lw.Scanned) (*object, error) {
	encoded, err := c.encoded(s)
	if err != nil {
		return nil, err
	}
	return c.keep(&object{encoded: encoded})
}

// encoded returns the encoding of an object before the transform. During a restore, s is nil.
func (c *objectCodec) encoded(s *lw.Scanned) (encoded, error) {
	if s != nil && !isJSON(s.Raw()) {
		return newMessage(s.Raw(), s.Namespace(), s.Name(), s.UID(), s.ResourceVersion())
	}
	if c.packing != nil && c.transform == nil {
		o, err := c.packing.Decode(s)
		return packed{o}, err
	}
	text, err := c.text.Decode(s)
	if err == nil && c.repeated != nil && c.transform == nil {
		return c.repeated.slimmed(text), nil
	}
	return text, err
}

// keep applies the transform, if any, and returns the object to store.
func (c *objectCodec) keep(o *object) (*object, error) {
	if c.transform == nil {
		return o, nil
	}
	kept, err := c.transformed(o)
	if err != nil {
		c.report(o, err)
	}
	return kept, err
}

// same reports whether Decode would return an object equal to o. If there is a transform, same returns false, because o
// then contains the transformed object.
func (c *objectCodec) same(o *object, s *lw.Scanned) bool {
	if c.transform != nil {
		return false
	}
	if !isJSON(s.Raw()) {
		return string(s.Raw()) == o.Raw()
	}
	text, err := c.text.Decode(s)
	return err == nil && text.Raw() == o.Raw()
}

// Identity implements [lw.Codec].
func (c *objectCodec) Identity() lw.Identity[*object] { return lw.Identity[*object]{Same: c.same} }

// transformed applies the transform and returns the object to store. If the transform's result has the informer's Go
// type, the object contains the encoded result. Otherwise the object refers to the result itself, because the informer
// could not decode another type again. The object also refers to the result if the transform has changed the key or the
// resourceVersion, because the store needs those that the server sent.
func (c *objectCodec) transformed(o *object) (*object, error) {
	before, err := c.decoder.decode(o.encoded)
	if err != nil {
		return nil, err
	}
	after, err := c.transform(before)
	switch {
	case err != nil:
		return nil, err
	case after == nil:
		return nil, errNilResult
	}
	c.decoder.share(after)
	if result, ok := after.(runtime.Object); ok && reflect.TypeOf(after) == c.decoder.example {
		made, err := encode(result, o.encoded)
		if err == nil && lw.KeyOf(made) == lw.KeyOf(o) && made.GetResourceVersion() == o.GetResourceVersion() {
			kept := &object{encoded: made}
			kept.decoded.Store(weakly(result))
			return kept, nil
		}
	}
	o.decoded.Store(&decoded{strong: after})
	return o, nil
}

// object holds the encoding of a stored object and, while the object is in use, its decoded struct.
type object struct {
	encoded
	decoded atomic.Pointer[decoded]
}

// encoded is the encoding of a stored object: JSON in a *[lw.Object], a *[slim] or a [packed], and protobuf in a
// *[message].
type encoded interface {
	lw.Keyed
	GetUID() string
	Raw() string
}

func (o *object) Key() lw.Key { return lw.KeyOf(o) }

// decoded holds a weak pointer to an object's decoded struct, so that readers can share the struct, but the garbage
// collector can free it.
type decoded struct {
	first  weak.Pointer[byte] // first byte of the struct, because the struct's type is known only at run time
	strong any                // the struct itself if the object could not be decoded again, otherwise nil
	err    error              // why the object cannot be decoded, or nil
	period atomic.Int64       // number of the last period in which recent kept the struct, or 0
}

// Equal reports whether two objects have the same encoding.
func (o *object) Equal(other *object) bool { return o == other || o.Raw() == other.Raw() }

// read returns the decoded struct of o. All callers share the struct until the garbage collector frees it. If keep is
// set, read keeps the struct in memory for at least keepFor.
func (d *decoder) read(o *object, keep bool) (any, error) {
	known := o.decoded.Load()
	value := d.value(known)
	if value == nil {
		made, err := d.decode(o.encoded)
		if err != nil {
			return nil, err
		}
		value, known = made, weakly(made)
		o.decoded.Store(known) // if several readers decode the object at once, later ones share the last struct
		d.share(made)
	}
	if keep {
		d.recent.keep(known, value)
	}
	return value, nil
}

// weakly returns a decoded that refers to made but does not keep it in memory.
func weakly(made runtime.Object) *decoded {
	return &decoded{first: weak.Make((*byte)(reflect.ValueOf(made).UnsafePointer()))}
}

// value returns the decoded struct. It returns nil if there is none yet or the garbage collector has freed it.
func (d *decoder) value(of *decoded) any {
	if of == nil {
		return nil
	}
	if of.strong != nil {
		return of.strong
	}
	if first := of.first.Value(); first != nil {
		return reflect.NewAt(d.example.Elem(), unsafe.Pointer(first)).Interface()
	}
	return nil
}

// protobufType is implemented by Go types with generated protobuf methods, such as *corev1.Pod.
type protobufType interface {
	Marshal() ([]byte, error)
	Unmarshal(data []byte) error
}

// message is a stored object in protobuf encoding. It implements [encoded].
type message struct {
	raw                                   string
	namespace, name, uid, resourceVersion part
}

// part is the location of a metadata string in message.raw, in bytes.
type part struct{ start, size uint32 }

// newMessage returns a message with a copy of data. The metadata strings must occur in data, because the message stores
// only their positions.
func newMessage(data, namespace, name, uid, resourceVersion []byte) (*message, error) {
	missing := false
	find := func(value []byte) part {
		start := bytes.Index(data, value)
		missing = missing || start < 0
		return part{uint32(start), uint32(len(value))}
	}
	m := &message{string(data), find(namespace), find(name), find(uid), find(resourceVersion)}
	if missing {
		return nil, errors.New("clientgo: a protobuf message does not contain the metadata of its object")
	}
	return m, nil
}

func (m *message) part(at part) string { return m.raw[at.start : at.start+at.size] }

func (m *message) GetNamespace() string       { return m.part(m.namespace) }
func (m *message) GetName() string            { return m.part(m.name) }
func (m *message) GetUID() string             { return m.part(m.uid) }
func (m *message) GetResourceVersion() string { return m.part(m.resourceVersion) }

func (m *message) Raw() string { return m.raw }

// into unmarshals the message into object, which does not share memory with the message.
func (m *message) into(object protobufType) error {
	// Unmarshal only reads the bytes, so they need not be copied.
	return object.Unmarshal(unsafe.Slice(unsafe.StringData(m.raw), len(m.raw)))
}

// decoder converts stored objects to and from the Go type of an informer.
type decoder struct {
	example reflect.Type            // Go type of the objects: a pointer to a struct
	kind    schema.GroupVersionKind // set only for PartialObjectMetadata
	fields  []string                // paths of the fields to keep; if empty, all fields are kept
	recent  *recent
	share   func(any) // receives each struct that several readers share
}

func newDecoder(example runtime.Object) decoder {
	d := decoder{example: reflect.TypeOf(example), recent: &recent{}, share: func(any) {}}
	if d.metadataOnly() {
		d.kind = example.GetObjectKind().GroupVersionKind()
	}
	return d
}

func (d *decoder) metadataOnly() bool {
	return d.example == reflect.TypeFor[*metav1.PartialObjectMetadata]()
}

// restoresFields reports whether [slim.restore] can be used with the informer's Go type. It returns false for
// unstructured objects. Those contain fieldsV1 as nested maps, so decoding the whole text is faster than restoring the
// maps.
func (d *decoder) restoresFields() bool {
	return d.example.Implements(reflect.TypeFor[metav1.Object]()) && !d.example.Implements(reflect.TypeFor[runtime.Unstructured]())
}

// protobuf reports whether the Go type of the informer has protobuf methods.
func (d *decoder) protobuf() bool {
	return !d.metadataOnly() && d.example.Implements(reflect.TypeFor[protobufType]()) && d.example.Implements(reflect.TypeFor[metav1.Object]())
}

// encode encodes object as protobuf if previous is a *message, and otherwise as JSON.
func encode(object runtime.Object, previous encoded) (encoded, error) {
	if _, ok := previous.(*message); ok {
		data, err := object.(protobufType).Marshal()
		if err != nil {
			return nil, err
		}
		return messageOf(data, object)
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return lw.ParseObject(text)
}

// messageOf returns a message for data, which is the encoding of object.
func messageOf(data []byte, object runtime.Object) (*message, error) {
	o := object.(metav1.Object)
	return newMessage(data, []byte(o.GetNamespace()), []byte(o.GetName()), []byte(o.GetUID()), []byte(o.GetResourceVersion()))
}

// decode decodes a stored object into a new struct. Like client-go's decoder, it leaves TypeMeta of a typed object
// empty. A PartialObjectMetadata gets the kind of the informer's example, as in controller-runtime. If the example has no
// kind, it keeps the server's.
func (d *decoder) decode(from encoded) (runtime.Object, error) {
	object := reflect.New(d.example.Elem()).Interface().(runtime.Object)
	if m, ok := from.(*message); ok {
		return object, m.into(object.(protobufType))
	}
	text := jsonOf(from)
	if u, ok := object.(*unstructured.Unstructured); ok {
		return u, codec.Into(text, &u.Object)
	}
	if err := codec.Into(text, object); err != nil {
		return nil, err
	}
	if s, ok := from.(*slim); ok {
		s.restore(object.(metav1.Object))
	}
	if _, ok := object.(runtime.Unstructured); !ok && !(d.metadataOnly() && d.kind.Empty()) {
		object.GetObjectKind().SetGroupVersionKind(d.kind)
	}
	return object, nil
}
