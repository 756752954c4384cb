package soak

import (
	"context"
	"io"
	"net/url"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// wire is what a follower has between its client and the transport.
type wire struct {
	lw.Transport
	edit     func(url.Values) // changes a request; nil: none
	patience time.Duration    // a response is silent after this, sooner than the engine would say; zero: as the engine says
	cut      func() int       // a response ends in good order after so many bytes, as behind a gateway that lost its server
}

// Open implements lw.Transport.
func (w *wire) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	query, err := url.ParseQuery(req.Query)
	if err != nil {
		return nil, err
	}
	if w.edit != nil {
		w.edit(query)
	}
	changed := *req
	changed.Query = query.Encode()
	ctx, cancel := context.WithCancelCause(ctx)
	body, err := w.Transport.Open(ctx, &changed)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	b := &wireBody{ReadCloser: body, wire: w, cancel: cancel, left: -1}
	if w.patience > 0 {
		// The engine's own watchdog ends a request in the same way.
		b.timer = time.AfterFunc(w.patience, func() { cancel(lw.ErrSilent) })
	}
	if w.cut != nil {
		b.left = w.cut()
	}
	return b, nil
}

type wireBody struct {
	io.ReadCloser
	wire   *wire
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil without patience
	left   int         // bytes until the cut; below zero: there is none
}

func (b *wireBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	if b.left > 0 {
		p = p[:min(len(p), b.left)]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left > 0 {
		b.left -= n
	}
	if b.timer != nil && err == nil {
		b.timer.Reset(b.wire.patience)
	}
	return n, err
}

func (b *wireBody) Close() error {
	if b.timer != nil {
		b.timer.Stop()
	}
	b.cancel(nil)
	return b.ReadCloser.Close()
}
