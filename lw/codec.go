package lw

// Codec decodes the objects that a [Client] receives. It must be safe for concurrent use.
//
// If a store already holds a listed object with the same UID and resourceVersion, the client reuses the stored object
// without decoding. After a backup is restored, such objects may differ. To detect this, a Codec can implement a method
// Same(T, *Scanned) bool, which reports whether Decode would return an equal object.
type Codec[T any] interface {
	// Decode returns the decoded object. It must copy all data that the object keeps, because the Scanned is valid only
	// during the call.
	Decode(*Scanned) (T, error)
}

// comparer is a Codec that can compare a decoded object with a Scanned.
type comparer[T any] interface {
	Same(T, *Scanned) bool
}

// RawCodec decodes objects into [Object] values, which hold their JSON text.
type RawCodec struct{}

// Decode copies the object's text. It never returns an error.
func (RawCodec) Decode(s *Scanned) (*Object, error) { return newObject(s, s.cutsFor(nil)), nil }

// sameObject reports whether stored equals the object that codec would decode from s. It returns true if codec cannot
// compare objects.
func sameObject[T any](codec Codec[T], stored T, s *Scanned) bool {
	switch codec := any(codec).(type) {
	case RawCodec:
		return s.isText(any(stored).(*Object).raw, s.prefix(), s.cutsFor(nil))
	case comparer[T]:
		return codec.Same(stored, s)
	}
	return true
}
