package clientgo

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/cache/compact"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// errNilResult is the decode error of an object for which the transform returned nil.
var errNilResult = errors.New("clientgo: the transform returned nil")

// objectCodec converts JSON to stored objects. It implements [lw.Codec].
type objectCodec struct {
	decoder   *decoder
	text      *textCodec
	packing   lw.Codec[*compact.Object] // compresses the objects of text; nil without Extras.Compress
	transform cache.TransformFunc       // set before the informer runs; may be nil
	report    func(*object, error)
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
	return c
}

// textCodec is the [lw.Codec] of the JSON of objects. While parsed is set, Decode returns it and ignores its parameter.
// With this field, a restore can compress objects that it read from a file.
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

// Decode implements [lw.Codec]. It decodes the object into its Go struct only if the informer has a transform.
func (c *objectCodec) Decode(s *lw.Scanned) (*object, error) {
	if c.packing != nil && c.transform == nil {
		o, err := c.packing.Decode(s)
		if err != nil {
			return nil, err
		}
		return &object{encoded: packed{o}}, nil
	}
	text, err := c.text.Decode(s)
	if err != nil {
		return nil, err
	}
	return c.keep(&object{encoded: text})
}

// decodeSaved is like Decode for the JSON of a saved object.
func (c *objectCodec) decodeSaved(text []byte) (*object, error) {
	o, err := lw.ParseObject(text)
	if err != nil {
		return nil, err
	}
	c.text.parsed = o
	defer func() { c.text.parsed = nil }()
	return c.Decode(nil)
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

// Same reports whether Decode would return an object equal to o. With a transform, it returns false.
func (c *objectCodec) Same(o *object, s *lw.Scanned) bool {
	if c.transform != nil {
		return false
	}
	text, err := c.text.Decode(s)
	return err == nil && text.Raw() == o.Raw()
}

// Identity implements [lw.Codec].
func (*objectCodec) Identity() lw.Identity[*object] { return lw.Identity[*object]{} }

// transformed applies the transform and returns the object to store. If the result of the transform has the Go type of
// the informer, the object contains the result in encoded form. Otherwise the object refers to the result itself.
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
	if result, ok := after.(runtime.Object); ok {
		made := c.decoder.encode(result, o.encoded)
		if made != nil && lw.KeyOf(made) == lw.KeyOf(o) && made.GetResourceVersion() == o.GetResourceVersion() {
			kept := &object{encoded: made}
			kept.decoded.Store(weakly(result))
			return kept, nil
		}
	}
	o.decoded.Store(&decoded{strong: after})
	return o, nil
}
