package compact

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Options configure a [Codec].
type Options struct {
	// HotBytes bounds the memory of the objects that are kept as they are read, beside the compressed ones; 1 MiB if zero,
	// none if negative.
	HotBytes int
}

const defaultHotBytes = 1 << 20

// Codec decodes objects into compressed ones. It may be used from several goroutines at once, which take turns when they
// compress. It learns from what it decodes: let each collection have its own.
type Codec struct {
	inner   lw.Codec[*lw.Object]
	learner learner
	hot     *hotObjects
	plain   *dictionary // that of objects that are held as they are
}

var _ interface {
	lw.Codec[*Object]
	Same(*Object, *lw.Scanned) bool
} = (*Codec)(nil)

// NewCodec returns a codec that compresses what another one decodes, [lw.RawCodec] or an *[lw.Projection]. opts may be nil.
func NewCodec(inner lw.Codec[*lw.Object], opts *Options) *Codec {
	if opts == nil {
		opts = &Options{}
	}
	limit := opts.HotBytes
	if limit == 0 {
		limit = defaultHotBytes
	}
	hot := newHotObjects(limit)
	return &Codec{inner: inner, hot: hot, plain: &dictionary{hot: hot}, learner: learner{living: new(atomic.Int32)}}
}

// Decode implements [lw.Codec]. It fails where the inner codec fails.
func (c *Codec) Decode(s *lw.Scanned) (*Object, error) {
	text, err := c.inner.Decode(s)
	if err != nil {
		return nil, err
	}
	object := c.compress(text)
	c.hot.put(object, text) // whoever follows a collection reads an object when it comes
	return object, nil
}

// DropsManagedFields tells a client what the inner codec does: whether the server need not send metadata.managedFields.
func (c *Codec) DropsManagedFields() bool {
	inner, ok := c.inner.(interface{ DropsManagedFields() bool })
	return ok && inner.DropsManagedFields()
}

// Same reports whether Decode would return an equal object. It decompresses nothing.
func (c *Codec) Same(o *Object, s *lw.Scanned) bool {
	text, err := c.inner.Decode(s)
	return err == nil && o.sum == sumOf(text.Raw())
}

func (c *Codec) compress(text *lw.Object) *Object {
	raw := text.Raw()
	w := works.Get().(*work)
	defer works.Put(w)
	var object *Object
	if press := c.learner.current.Load(); press != nil && w.compress(press, raw) {
		object = newObject(text, press.dictionary, w.packed)
	} else {
		w.raw = append(w.raw[:0], raw...)
		object = newObject(text, c.plain, w.raw)
	}
	c.learner.observe(raw, len(object.held), c.hot)
	return object
}

// Object is one API object, whose text is held compressed. It is immutable and safe to share.
type Object struct {
	dictionary *dictionary
	held       string // the metadata that is read out, one after the other, and the compressed text
	sum        sum    // of the text

	// Where each of the metadata ends in held. Four strings would be twice as large as what they say of a Pod.
	namespace, name, uid, resourceVersion uint32
}

// newObject copies what an object is to hold: two allocations.
func newObject(text *lw.Object, by *dictionary, packed []byte) *Object {
	var held strings.Builder
	held.Grow(len(text.GetNamespace()) + len(text.GetName()) + len(text.GetUID()) + len(text.GetResourceVersion()) + len(packed))
	end := func(part string) uint32 {
		held.WriteString(part)
		return uint32(held.Len())
	}
	o := &Object{dictionary: by, sum: sumOf(text.Raw())}
	o.namespace, o.name = end(text.GetNamespace()), end(text.GetName())
	o.uid, o.resourceVersion = end(text.GetUID()), end(text.GetResourceVersion())
	held.Write(packed)
	o.held = held.String()
	return o
}

// GetNamespace, GetName, GetUID and GetResourceVersion return the metadata of that name. They decompress nothing.
func (o *Object) GetNamespace() string       { return o.held[:o.namespace] }
func (o *Object) GetName() string            { return o.held[o.namespace:o.name] }
func (o *Object) GetUID() string             { return o.held[o.name:o.uid] }
func (o *Object) GetResourceVersion() string { return o.held[o.uid:o.resourceVersion] }

// Key returns the object's namespace and name.
func (o *Object) Key() lw.Key { return lw.KeyOf(o) }

// Object returns the whole object: the one that was returned before if it is still hot, or else decompressed. It does not
// fail, as the text was read back once when it was compressed, and one that was not the same was not held compressed.
func (o *Object) Object() *lw.Object {
	hot := o.dictionary.hot
	if text := hot.get(o); text != nil {
		return text
	}
	text := o.dictionary.read(o.held[o.resourceVersion:])
	hot.put(o, text)
	return text
}

// Equal reports whether two objects are the same text, by its length and a hash of 128 bits.
func (o *Object) Equal(other *Object) bool { return o == other || o.sum == other.sum }

// sum stands for a text. Two different texts of one length have the same one in one of 2^128 cases, if the hash is as good
// as it looks; nobody can look for them beforehand, as the seeds are random and of this process only.
type sum struct {
	hash   [2]uint64
	length int
}

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func sumOf(text string) sum {
	return sum{hash: [2]uint64{maphash.String(seeds[0], text), maphash.String(seeds[1], text)}, length: len(text)}
}
