package lw

import "io"

// decoder is concrete, because browsers receive JSON only and an interface costs the WASM module 4 kB.
type decoder = *jsonDecoder

func (c *Client[T]) mediaType() string { return "application/json" }

func (c *Client[T]) newDecoder(body io.Reader) decoder {
	return &jsonDecoder{newScanner(body, c.opts.MaxFrame)}
}

// openError returns the error of a request.
func (c *Client[T]) openError(err error) error { return err }
