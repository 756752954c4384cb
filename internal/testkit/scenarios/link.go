package scenarios

import (
	"context"
	"errors"
	"io"
	"net/url"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

var errCut = errors.New("the scenario cut the connection")

// link is a transport that remembers what was asked of it, and breaks when told to.
type link struct {
	lw.Transport
	edit func(url.Values) // changes the query on its way, if set

	mu     sync.Mutex
	asked  []url.Values
	cancel context.CancelCauseFunc // of all that is open
	open   context.Context
	broken bool
}

func newLink(transport lw.Transport) *link {
	l := &link{Transport: transport}
	l.open, l.cancel = context.WithCancelCause(context.Background())
	return l
}

// Open implements lw.Transport.
func (l *link) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	query, err := url.ParseQuery(req.Query)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.asked = append(l.asked, query)
	open, broken := l.open, l.broken
	l.mu.Unlock()
	if broken {
		return nil, errCut
	}
	changed := *req
	if l.edit != nil {
		l.edit(query)
		changed.Query = query.Encode()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(open, func() { cancel(errCut) })
	body, err := l.Transport.Open(ctx, &changed)
	if err != nil {
		stop()
		cancel(nil)
		return nil, err
	}
	return &linkBody{ReadCloser: body, release: func() { stop(); cancel(nil) }}, nil
}

type linkBody struct {
	io.ReadCloser
	release func()
}

func (b *linkBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

// cut breaks what is open, and lets nothing through until mend.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = true
	l.cancel(errCut)
}

func (l *link) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = false
	l.open, l.cancel = context.WithCancelCause(context.Background())
}

// requests counts the requests whose query has a value.
func (l *link) requests(name, value string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, query := range l.asked {
		if query.Get(name) == value {
			n++
		}
	}
	return n
}
