package lw

// Codec decodes scanned objects. It must be safe for concurrent use.
//
// A list may return an object that the store already holds at the same resourceVersion. The store then keeps its object
// without decoding it again. After a restored backup the text may differ nevertheless. A Codec can rule this out by a method
// Same(T, *Scanned) bool, which reports whether Decode would return an equal object.
type Codec[T any] interface {
	// Decode returns the object. It must copy what the object keeps, because the Scanned is valid only during the call.
	Decode(*Scanned) (T, error)
}

// comparer is a Codec that can compare an object with its text.
type comparer[T any] interface {
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

// Same reports whether Decode would return an equal object.
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
