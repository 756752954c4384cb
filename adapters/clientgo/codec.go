package clientgo

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// objectCodec makes stored objects of JSON. It implements [lw.Codec].
type objectCodec struct {
	decoder   *decoder
	transform cache.TransformFunc // nil: none. It is set before the run
	report    func(*object, error)
}

// Decode implements [lw.Codec]. Only a transform needs the struct of the object.
func (c *objectCodec) Decode(s *lw.Scanned) (*object, error) {
	text, err := lw.RawCodec{}.Decode(s)
	if err != nil {
		return nil, err
	}
	return c.keep(&object{encoded: text})
}

// keep returns the object to store: o, or the result of the transform.
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

// Same reports whether Decode would return an equal object.
func (c *objectCodec) Same(o *object, s *lw.Scanned) bool {
	return c.transform == nil && string(s.AppendText(nil)) == o.Raw()
}

// transformed returns the result of the transform. If the result has the type of the informer, its bytes are kept. Any other
// value is kept itself.
func (c *objectCodec) transformed(o *object) (*object, error) {
	before, err := c.decoder.decode(o.encoded)
	if err != nil {
		return nil, err
	}
	after, err := c.transform(before)
	if err != nil {
		return nil, err
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
