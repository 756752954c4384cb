package lw

// Codec turns a scanned object into a T. It must copy what it keeps: the Scanned is valid only during the call.
// It may be used from several goroutines at once.
type Codec[T any] interface {
	Decode(*Scanned) (T, error)
}

// RawCodec keeps objects as JSON text. It fails on nothing.
type RawCodec struct {
	KeepManagedFields bool // by default metadata.managedFields, often half of an object, is dropped
}

// Decode copies the object's text: two allocations.
func (c RawCodec) Decode(s *Scanned) (*Object, error) { return newObject(s, c.KeepManagedFields), nil }
