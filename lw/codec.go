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

// RawCodec decodes objects into their JSON text. Its Decode never returns an error.
type RawCodec struct{}

// Decode copies the text of the object. It makes two allocations.
func (RawCodec) Decode(s *Scanned) (*Object, error) { return newObject(s, s.cutsFor(nil)), nil }

// sameObject reports whether the codec would decode an equal object. It returns true if the codec cannot tell.
func sameObject[T any](codec Codec[T], object T, s *Scanned) bool {
	switch codec := any(codec).(type) {
	case RawCodec:
		return s.isText(any(object).(*Object).raw, s.prefix(), s.cutsFor(nil))
	case comparer[T]:
		return codec.Same(object, s)
	}
	return true
}
