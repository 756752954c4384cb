//go:build !js

package lw

import "io"

// decoder reads the body of one response in one encoding. Its methods do nothing after an error.
type decoder interface {
	// list reads a list to the end of the stream. It scans each item into o and calls item, which returns false to stop.
	list(meta *ListMeta, o *Scanned, item func() bool)

	// begin waits for the next event of a watch. It returns false at the end of the stream.
	begin() bool
	// event reads the next event of a watch into o. At the end of the stream the error is io.EOF.
	event(o *Scanned) (EventType, bool)
	// status returns the Status of an ERROR event that event has read.
	status(o *Scanned) (Status, error)

	notThisList()   // records that the list is one of another resource
	fail(err error) // records an error
	failed() bool   // reports whether there was an error
	failure() error // returns the first error in the documented types of this package
	release()       // ends the use of the decoder
}

// encoding is a Codec that selects the encoding of the responses. JSON is the default.
type encoding interface {
	mediaType() string
	newDecoder(body io.Reader, opts *ClientOptions, keepManagedFields bool) decoder
	openError(err error) error
}

func (c *Client[T]) mediaType() string {
	if e, ok := c.codec.(encoding); ok {
		return e.mediaType()
	}
	return "application/json"
}

func (c *Client[T]) newDecoder(body io.Reader) decoder {
	if e, ok := c.codec.(encoding); ok {
		return e.newDecoder(body, &c.opts, false)
	}
	return &jsonDecoder{newScanner(body, c.opts.MaxFrame)}
}

// openError returns the error of a request. It decodes a Status in the codec's encoding.
func (c *Client[T]) openError(err error) error {
	if e, ok := c.codec.(encoding); ok {
		return e.openError(err)
	}
	return err
}
