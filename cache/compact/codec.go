package compact

import (
	"bytes"
	"errors"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// hotBytes is the maximum size of a codec's cache of uncompressed objects, in bytes.
const hotBytes = 1 << 20

// codec compresses the objects that inner decodes.
type codec struct {
	inner   lw.Codec[*lw.Object]
	trainer trainer
	hot     *objectCache
	plain   *dictionary // for objects that are stored uncompressed; they find the cache hot through it
}

// NewCodec returns a codec that compresses the objects of inner, such as a [lw.RawCodec]. The client must not request
// protobuf, because the codec parses the stored text as JSON, so Decode returns an error for protobuf. The codec is safe
// for concurrent use, but compresses one object at a time, because each zstd encoder takes about 0.9 MB of memory. The
// codec also keeps up to 1 MiB of recently used objects uncompressed. Each collection needs its own codec, because the
// codec learns from the objects that it decodes.
func NewCodec(inner lw.Codec[*lw.Object]) lw.Codec[*Object] { return newCodec(inner, hotBytes) }

// newCodec returns a codec that keeps at most hotBytes bytes of recently used objects uncompressed. If hotBytes is
// negative, it keeps no object uncompressed.
func newCodec(inner lw.Codec[*lw.Object], hotBytes int) *codec {
	hot := &objectCache{limit: hotBytes}
	return &codec{inner: inner, hot: hot, plain: &dictionary{cache: hot}, trainer: trainer{interval: samples}}
}

// errProtobuf reports that the client has requested protobuf. [lw.NewClient] cannot detect this, because it does not know
// the codec.
var errProtobuf = errors.New("compact.NewCodec received protobuf: clear lw.ClientOptions.Protobuf")

// Decode implements [lw.Codec]. It returns errors from the inner codec. s may be nil if the inner codec does not need it.
func (c *codec) Decode(s *lw.Scanned) (*Object, error) {
	if s != nil && !bytes.HasPrefix(s.Raw(), []byte("{")) { // Kubernetes' protobuf messages never begin with a brace
		return nil, errProtobuf
	}
	text, err := c.inner.Decode(s)
	if err != nil {
		return nil, err
	}
	return c.pack(text), nil
}

// NewPacker returns a func that compresses objects like the codec of [NewCodec]. It is safe for concurrent use.
func NewPacker() func(*lw.Object) *Object { return newCodec(nil, hotBytes).pack }

func (c *codec) pack(text *lw.Object) *Object {
	object := c.compress(text)
	c.hot.put(object, text) // because programs often read an object as soon as its event arrives
	return object
}

// same reports whether decoding s would return an object that equals o. It does not decompress o.
func (c *codec) same(o *Object, s *lw.Scanned) bool {
	text, err := c.inner.Decode(s)
	return err == nil && o.Holds(text)
}

// Identity implements [lw.Codec].
func (c *codec) Identity() lw.Identity[*Object] {
	return lw.Identity[*Object]{UID: (*Object).GetUID, Equal: (*Object).equal, Same: c.same}
}

// compress returns text as an Object. Before the first training, it stores the JSON uncompressed. It also does so if
// the compressed JSON is not smaller, or does not decompress to the same JSON.
func (c *codec) compress(text *lw.Object) *Object {
	raw := text.Raw()
	w := bufferPool.Get().(*buffers)
	defer bufferPool.Put(w)
	var object *Object
	if press := c.trainer.current.Load(); press != nil && w.compress(press, raw) {
		object = newObject(text, press.dictionary, w.packed)
	} else {
		w.raw = append(w.raw[:0], raw...)
		object = newObject(text, c.plain, w.raw)
	}
	c.trainer.observe(raw, c.hot) // if this trains a new dictionary, the dictionary refers to c.hot, like c.plain
	return object
}
