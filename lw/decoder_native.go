//go:build !js

package lw

import "io"

// decoder reads the body of one response, which is encoded as JSON or protobuf. After an error its methods do nothing.
type decoder interface {
	// list reads a list to its end. It scans each list item into o and then calls the callback item. It stops if the
	// callback returns false.
	list(meta *ListMeta, o *Scanned, item func() bool)

	// begin blocks until the next event of a watch arrives. It returns false at the end of the stream.
	begin() bool
	// event reads the next event of a watch into o. At the end of the stream it returns false, and failure returns
	// io.EOF.
	event(o *Scanned) (EventType, bool)
	// status returns the error in the ERROR event that event read last. It is a *StatusError or a *MalformedError.
	status(o *Scanned) error

	wrongList()     // records that the list belongs to another resource
	fail(err error) // records an error
	failed() bool   // reports whether an error was recorded
	failure() error // returns the first error, converted to an error type of this package
	release()       // frees the decoder's buffer
}

// encoding is implemented by a Codec that requests an encoding other than JSON, such as [Protobuf].
type encoding interface {
	mediaType() string
	newDecoder(body io.Reader, opts *ClientOptions, progress func()) decoder
	openError(err error) error
}

func (c *Client[T]) mediaType() string {
	if e, ok := c.codec.(encoding); ok {
		return e.mediaType()
	}
	return "application/json"
}

// newDecoder returns a decoder of body. The decoder calls progress after each part of an object that arrives. progress
// may be nil.
func (c *Client[T]) newDecoder(body io.Reader, progress func()) decoder {
	if e, ok := c.codec.(encoding); ok {
		return e.newDecoder(body, &c.opts, progress)
	}
	return newJSONDecoder(body, &c.opts, progress)
}

// openError returns err, an error of Transport.Open. If the server rejected the request, openError first decodes the
// Status in err.
func (c *Client[T]) openError(err error) error {
	if e, ok := c.codec.(encoding); ok {
		return e.openError(err)
	}
	return err
}
