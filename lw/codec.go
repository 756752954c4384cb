package lw

import (
	"io"
	"runtime"
)

// Codec decodes the objects that a [Client] receives, and says how a store compares them. It must be safe for concurrent
// use.
type Codec[T any] interface {
	// Decode returns the decoded object. It must copy all data that the object keeps, because the Scanned is valid only
	// during the call.
	Decode(*Scanned) (T, error)

	// Same reports whether Decode would return an object that equals object. The client calls it for an object that the
	// caller holds and that has the same UID and resourceVersion, and does not decode the object again if Same returns
	// true. After a backup is restored, such objects may differ. A codec that cannot compare them returns true.
	Same(object T, s *Scanned) bool

	// Identity returns the functions with which a store compares decoded objects.
	Identity() Identity[T]
}

// Identity tells a store how to compare objects of type T. If a func is nil, the store uses the method of T that the
// comment names, if T has it.
type Identity[T any] struct {
	// UID returns metadata.uid, or "" if it is missing. A store reports an object with another UID as recreated. The
	// method is GetUID() string.
	UID func(T) string
	// Equal reports whether two objects with the same key, UID and resourceVersion are equal. Without it, they count as
	// equal. The method is Equal(T) bool.
	Equal func(a, b T) bool
}

// RawCodec decodes objects into [Object] values, which hold their JSON text.
type RawCodec struct{}

// Decode copies the object's text. It never returns an error.
func (RawCodec) Decode(s *Scanned) (*Object, error) { return newObject(s, s.cutsFor(nil)), nil }

// Same reports whether Decode would return an equal object.
func (RawCodec) Same(o *Object, s *Scanned) bool { return s.isText(o.raw, s.prefix(), s.cutsFor(nil)) }

// Identity implements [Codec].
func (RawCodec) Identity() Identity[*Object] {
	return Identity[*Object]{UID: (*Object).GetUID, Equal: (*Object).Equal}
}

// usesProtobuf reports whether the client requests protobuf. The WASM module contains no protobuf decoder, because it
// would add 9 kB after brotli compression, and transports in browsers support only JSON.
func (c *Client[T]) usesProtobuf() bool { return runtime.GOOS != "js" && c.opts.Protobuf }

func (c *Client[T]) mediaType() string {
	if c.usesProtobuf() {
		return protobufType
	}
	return "application/json"
}

// newDecoder returns a decoder of body. The decoder calls progress after each part of an object that arrives. progress
// may be nil.
func (c *Client[T]) newDecoder(body io.Reader, progress func()) decoder {
	if c.usesProtobuf() {
		return newProtoDecoder(body, c.opts.MaxFrame, progress)
	}
	return newScanner(body, c.opts.MaxFrame, progress)
}
