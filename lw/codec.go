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

// AppendText appends to b the text of the object that Decode would make, for a codec around this one that keeps no objects.
func (c RawCodec) AppendText(b []byte, s *Scanned) []byte {
	return s.appendText(b, s.prefix(), c.cuts(s))
}

// Same implements [Comparer].
func (c RawCodec) Same(o *Object, s *Scanned) bool { return s.isText(o.raw, s.prefix(), c.cuts(s)) }

func (c RawCodec) cuts(s *Scanned) []span {
	if c.KeepManagedFields {
		return nil
	}
	return s.cutsFor(withoutManagedFields)
}

// fieldDropper is a Codec that says whether it keeps nothing of metadata.managedFields, so that a server that can leaves them
// out. One that embeds another inherits its word.
type fieldDropper interface {
	DropsManagedFields() bool
}

// DropsManagedFields tells a client that the server need not send metadata.managedFields.
func (c RawCodec) DropsManagedFields() bool { return !c.KeepManagedFields }

func dropsManagedFields(codec any) bool {
	dropper, ok := codec.(fieldDropper)
	return ok && dropper.DropsManagedFields()
}
