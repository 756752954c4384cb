package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/hostile"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// wire contains the JSON fields of responses that the reference engine uses.
type wire struct {
	Type, Kind, APIVersion, Reason string
	Code                           int
	Metadata                       struct {
		ResourceVersion, Continue string
		Annotations               map[string]string
	}
	Details struct {
		Causes            []struct{ Reason string }
		RetryAfterSeconds int
	}
	Object json.RawMessage
	Items  []json.RawMessage
}

// parsed returns text as the store keeps it: without managedFields, and with kind and apiVersion filled in.
func parsed(text json.RawMessage) object {
	kept := strings.Replace(string(text), managed, "", 1)
	if !strings.HasPrefix(kept, "{"+hostile.ConfigMap) {
		kept = hostile.Typed(kept)
	}
	o, err := lw.ParseObject([]byte(kept))
	if err != nil {
		panic(err)
	}
	return o
}

// body is a response body with an idle timeout.
type body struct {
	io.ReadCloser
	guard *guard
	rest  []byte // start of an incomplete line
}

// guard cancels a request when its idle timeout has passed on either the monotonic clock or the wall clock.
type guard struct {
	sync.Mutex
	wall    func() time.Time
	cancel  context.CancelCauseFunc
	done    chan struct{}
	last    time.Time // on the monotonic clock
	walled  time.Time // the same time on the wall clock
	limit   time.Duration
	stopped bool
}

func (g *guard) set(limit time.Duration) {
	g.Lock()
	g.last, g.walled, g.limit = time.Now(), g.wall(), limit
	g.Unlock()
}

// look cancels the request if its idle timeout has passed.
func (g *guard) look() {
	g.Lock()
	defer g.Unlock()
	if !g.stopped && max(time.Since(g.last), g.wall().Sub(g.walled)) >= g.limit {
		g.cancel(lw.ErrSilent)
	}
}

// watch calls g.look every 10 seconds, and whenever it receives from wake.
func (g *guard) watch(wake <-chan struct{}) {
	timer := time.NewTicker(10 * time.Second)
	defer timer.Stop()
	for {
		select {
		case <-g.done:
			return
		case <-timer.C:
		case <-wake:
		}
		g.look()
	}
}

// ask sends a request and returns the response body. limit is the idle timeout. The caller must call done.
func (r *reference) ask(query url.Values, limit time.Duration) (b *body, done func(), end ending) {
	ctx, cancel := context.WithCancelCause(r.ctx)
	g := &guard{wall: r.opts.Wall, cancel: cancel, done: make(chan struct{})}
	if r.noWall {
		g.wall = time.Now
	}
	g.set(limit)
	go g.watch(r.opts.Wake)
	done = func() {
		g.Lock()
		g.stopped = true
		g.Unlock()
		close(g.done)
		if b != nil {
			b.Close()
		}
	}
	response, err := r.transport.Open(ctx, &lw.Request{Path: "/", Query: query.Encode()})
	if err != nil {
		return nil, done, r.answered(err)
	}
	return &body{ReadCloser: response, guard: g}, done, end
}

// answered converts a request's error to an ending.
func (r *reference) answered(err error) ending {
	status, ok := err.(*lw.StatusError)
	switch {
	case err == lw.ErrSilent:
		return ending{why: endIdle, err: err}
	case !ok:
		return ending{why: endUnreachable, err: err, wait: -1}
	}
	end := ending{err: err, wait: status.RetryAfter, why: ofCode(status.Code, len(status.Causes) > 0)}
	if s, ok := r.transport.(*sim); ok && end.wait == 0 && s.conn.rejection != nil {
		if at, err := http.ParseTime(s.conn.rejection.header); err == nil {
			end.wait = max(0, time.Until(at))
		}
	}
	return end
}

func ofCode(code int, tooLarge bool) why {
	switch code {
	case 401, 403:
		return endDenied
	case 404:
		return endMissing
	case 410:
		return endExpired
	case 429, 502, 503:
		return endOverloaded
	case 504:
		if tooLarge {
			return endTooNew
		}
		return endOverloaded
	}
	return endFaulty
}

// line returns the next line of a watch. At the end of the response, it returns nil and the reason.
func (r *reference) line(b *body) ([]byte, ending) {
	chunk := make([]byte, 4096)
	for {
		if line, rest, ok := bytes.Cut(b.rest, []byte("\n")); ok {
			if b.rest = rest; len(line) == 0 {
				continue
			}
			if bytes.IndexByte(line, 1) >= 0 {
				return nil, ending{why: endFaulty, err: io.ErrNoProgress}
			}
			return line, ending{}
		}
		if json.Valid(b.rest) { // the line is complete except for its newline
			line := b.rest
			b.rest = nil
			return line, ending{}
		}
		if bytes.IndexByte(b.rest, 1) >= 0 {
			return nil, ending{why: endFaulty, err: io.ErrNoProgress}
		}
		if bytes.HasPrefix(b.rest, []byte("<")) {
			return nil, ending{why: endUnreachable, err: io.ErrNoProgress} // a proxy sent an HTML page
		}
		n, err := b.Read(chunk)
		b.rest = append(b.rest, chunk[:n]...)
		switch {
		case err == io.EOF && len(b.rest) == 0:
			return nil, ending{why: endClosed, err: lw.ErrWatchClosed}
		case err == io.EOF:
			return nil, ending{why: endUnreachable, err: io.ErrUnexpectedEOF, wait: -1}
		case err != nil:
			return nil, r.answered(err)
		}
	}
}
