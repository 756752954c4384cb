package lw

// Codec turns a scanned object into a T. It must copy what it keeps: the Scanned is valid only during the call.
// It may be used from several goroutines at once.
type Codec[T any] interface {
	Decode(*Scanned) (T, error)
}

// Comparer is a Codec that can tell, without decoding, whether an object is exactly what it would decode. A [Recaller]
// with such a codec recalls no object whose text has changed, not even under the same version, which a restored backup
// can bring about.
type Comparer[T any] interface {
	Same(T, *Scanned) bool
}

// RawCodec keeps objects as JSON text. It fails on nothing.
type RawCodec struct {
	KeepManagedFields bool // by default metadata.managedFields, often half of an object, is dropped
}

// Decode copies the object's text: two allocations.
func (c RawCodec) Decode(s *Scanned) (*Object, error) { return newObject(s, c.cuts(s)), nil }

// Same implements [Comparer].
func (c RawCodec) Same(o *Object, s *Scanned) bool { return s.isText(o.raw, s.prefix(), c.cuts(s)) }

func (c RawCodec) cuts(s *Scanned) []span {
	if c.KeepManagedFields {
		return nil
	}
	return s.cutsFor(withoutManagedFields)
}

// dropsManagedFields reports whether a codec is one of ours and keeps nothing of metadata.managedFields. One that is built
// around ours may read them from the object as the server sent it.
func dropsManagedFields(codec any) bool {
	switch codec := codec.(type) {
	case RawCodec:
		return !codec.KeepManagedFields
	case *Projection:
		return codec.keep.member([]byte("metadata")).member([]byte("managedFields")) == nothing
	}
	return false
}
