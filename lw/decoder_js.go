package lw

import "io"

// decoder is a concrete type, because browsers receive only JSON. An interface would add 4 kB to the WASM module.
type decoder = *jsonDecoder

func (c *Client[T]) mediaType() string { return "application/json" }

func (c *Client[T]) newDecoder(body io.Reader, progress func()) decoder {
	return newJSONDecoder(body, &c.opts, progress)
}

// openError returns err unchanged, because JSON errors are already decoded.
func (c *Client[T]) openError(err error) error { return err }
