package catalog

import (
	"reflect"
	"slices"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Packed is an object in the form in which a catalog stores it, such as a [compact.Object]. See [Settings.Pack].
//
// [compact.Object]: https://pkg.go.dev/github.com/seed-6d2a410a/listwatch/cache/compact#Object
type Packed interface {
	lw.Keyed
	GetUID() string
	Object() *lw.Object
	Holds(text *lw.Object) bool // reports whether Object would return an object equal to text
	Size() int                  // size in memory, in bytes
}

// object is an alias, because embedding lw.Object itself would add a field named Object, which collides with the Object
// method.
type object = lw.Object

// text is an object that is stored as text.
type text struct{ *object }

// Object implements [Packed].
func (t text) Object() *lw.Object { return t.object }

// Holds implements [Packed].
func (t text) Holds(other *lw.Object) bool { return t.Equal(other) }

// Size implements [Packed].
func (t text) Size() int { return len(t.Raw()) }

// codec decodes objects as text and then packs them. raw keeps only the fields in Settings.Fields.
type codec struct {
	raw     lw.RawCodec
	pack    func(*lw.Object) Packed
	managed bool // whether Settings.Fields names metadata.managedFields, which clients drop by default
}

func newCodec(settings *Settings) (c codec, err error) {
	if c.pack = settings.Pack; c.pack == nil {
		c.pack = func(o *lw.Object) Packed { return text{o} }
	}
	if settings.Fields != nil {
		c.raw, err = lw.Project(settings.Fields...)
	}
	c.managed = slices.ContainsFunc(settings.Fields, func(path string) bool {
		return strings.HasPrefix(strings.TrimPrefix(path, "."), "metadata.managedFields")
	})
	return c, err
}

// Decode implements [lw.Codec].
func (c codec) Decode(s *lw.Scanned) (Packed, error) { return c.packed(c.raw.Decode(s)) }

// parse decodes a saved object.
func (c codec) parse(saved []byte) (Packed, error) { return c.packed(lw.ParseObject(saved)) }

func (c codec) packed(o *lw.Object, err error) (Packed, error) {
	if err != nil {
		return nil, err
	}
	return c.pack(o), nil
}

// same reports whether a == b. It returns false for values of a type for which == would panic.
func same(a, b Packed) bool { return reflect.ValueOf(a).Comparable() && a == b }

// Identity implements [lw.Codec].
func (c codec) Identity() lw.Identity[Packed] {
	raw := c.raw.Identity()
	return lw.Identity[Packed]{
		UID:   Packed.GetUID,
		Equal: func(a, b Packed) bool { return same(a, b) || a.Holds(b.Object()) }, // a relist often yields the stored object itself
		Same: func(e Packed, s *lw.Scanned) bool {
			if e, ok := e.(text); ok {
				return raw.Same(e.object, s) // compares without copying the text
			}
			o, err := c.raw.Decode(s)
			return err == nil && e.Holds(o)
		},
	}
}
