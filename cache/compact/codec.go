package compact

import (
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
	trainer trainer
	hot     *objectCache
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
	hot := newObjectCache(limit)
	return &Codec{inner: inner, hot: hot, plain: &dictionary{cache: hot}, trainer: trainer{alive: new(atomic.Int32)}}
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
	return err == nil && o.digest == digestOf(text.Raw())
}

func (c *Codec) compress(text *lw.Object) *Object {
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
	c.trainer.observe(raw, len(object.held), c.hot)
	return object
}
