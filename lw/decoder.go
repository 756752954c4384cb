package lw

import "io"

type jsonDecoder struct{ s scanner }

func newJSONDecoder(body io.Reader, opts *ClientOptions, progress func()) *jsonDecoder {
	s := newScanner(body, opts.MaxFrame)
	s.Progress = progress
	return &jsonDecoder{s}
}

func (d *jsonDecoder) list(meta *ListMeta, o *Scanned, item func() bool) { d.s.list(meta, o, item) }
func (d *jsonDecoder) begin() bool                                       { return d.s.Begin() }
func (d *jsonDecoder) event(o *Scanned) (EventType, bool)                { return d.s.event(o) }
func (d *jsonDecoder) status(o *Scanned) error                           { return d.s.status(o) }
func (d *jsonDecoder) wrongList()                                        { d.s.wrongList() }
func (d *jsonDecoder) fail(err error)                                    { d.s.Fail(err) }
func (d *jsonDecoder) failed() bool                                      { return d.s.Err() != nil }
func (d *jsonDecoder) failure() error                                    { return d.s.failure() }
func (d *jsonDecoder) release()                                          { d.s.Release() }
