// Package etcd is a lw.ListerWatcher of another system than Kubernetes: the keys of an etcd, over its JSON gateway, followed
// by the same engine into the same store. It is a model for a ListerWatcher of your own:
//
//   - etcd's revision is the resource version, and a compaction is what makes one too old;
//   - the pages of a list are all of one revision, and the watch that follows begins with the next;
//   - a transaction writes several keys at one revision, which is reached with the last of them and not before;
//   - a watch brings reports of progress, which become bookmarks, and ends when its time is over.
//
// Give etcd --watch-progress-notify-interval=1m: with its own 10m a watch has ended before the first report, and keys that
// are quiet while others change are listed again after a compaction.
package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Entry is a key and its value. It must not be changed.
type Entry struct {
	Key      []byte `json:"key"`
	Value    []byte `json:"value"` // of a key that was deleted: the last, unless a compaction took it
	Created  string `json:"create_revision"`
	Revision string `json:"mod_revision"` // of the transaction that wrote the value, or deleted the key
}

// GetNamespace, GetName and GetResourceVersion implement lw.Keyed. etcd has no namespaces.
func (e *Entry) GetNamespace() string       { return "" }
func (e *Entry) GetName() string            { return string(e.Key) }
func (e *Entry) GetResourceVersion() string { return e.Revision }

// Keys are the keys of an etcd that begin with Prefix, as a lw.ListerWatcher. There is nothing like a selector.
type Keys struct {
	URL    string      // as "http://127.0.0.1:2379"
	Prefix string      // not empty; its last byte is not 0xff
	Client http.Client // without a Timeout, as a watch takes its time
}

// List implements lw.ListerWatcher. The first page is of the latest revision, and the others are of that of the first.
func (k *Keys) List(ctx context.Context, opts lw.ListOptions, meta *lw.ListMeta) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		revision, first, later := strings.Cut(opts.Continue, " ")
		if !later {
			revision, first = "0", k.Prefix
		}
		var page struct {
			Header struct{ Revision string }
			Kvs    []*Entry
			More   bool
		}
		body, err := k.post(ctx, "/v3/kv/range", map[string]any{
			"key": []byte(first), "range_end": k.end(), "revision": revision, "limit": opts.Limit})
		if err == nil {
			defer body.Close()
			err = json.NewDecoder(body).Decode(&page)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for _, entry := range page.Kvs {
			if !yield(entry, nil) {
				return
			}
		}
		if meta.ResourceVersion = page.Header.Revision; later {
			meta.ResourceVersion = revision
		}
		if page.More {
			meta.Continue = meta.ResourceVersion + " " + page.Kvs[len(page.Kvs)-1].GetName() + "\x00"
		}
	}
}

// errTimeout ends a watch in good order: etcd itself would go on for ever.
var errTimeout = errors.New("the time that was asked for is over")

// Watch implements lw.ListerWatcher.
func (k *Keys) Watch(ctx context.Context, opts lw.WatchOptions) iter.Seq2[lw.Event[*Entry], error] {
	return func(yield func(lw.Event[*Entry], error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		if opts.Timeout > 0 {
			defer time.AfterFunc(opts.Timeout, func() { cancel(errTimeout) }).Stop()
		}
		err := k.follow(ctx, opts.ResourceVersion, func(event lw.Event[*Entry]) bool { return yield(event, nil) })
		if err != io.EOF && context.Cause(ctx) != errTimeout {
			yield(lw.Event[*Entry]{}, err)
		}
	}
}

// follow tells what happens after a revision. It returns io.EOF at the end of the stream, or when tell wants no more.
func (k *Keys) follow(ctx context.Context, version string, tell func(lw.Event[*Entry]) bool) error {
	after, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return err
	}
	body, err := k.post(ctx, "/v3/watch", map[string]any{"create_request": map[string]any{
		"key": []byte(k.Prefix), "range_end": k.end(), "start_revision": after + 1, "progress_notify": true, "prev_kv": true}})
	if err != nil {
		return err
	}
	defer body.Close()
	for stream := json.NewDecoder(body); ; {
		var m message
		if err := stream.Decode(&m); err != nil {
			return err
		}
		events, err := m.events(after)
		if err != nil {
			return err
		}
		for _, event := range events {
			if !tell(event) {
				return io.EOF
			}
		}
	}
}

// events are what a message says, of a watch after a revision.
func (m *message) events(after int64) ([]lw.Event[*Entry], error) {
	r := &m.Result
	switch {
	case m.Error.Message != "" || r.Canceled && r.CompactRevision == "":
		return nil, errors.New("etcd: " + m.Error.Message + r.CancelReason)
	case r.Canceled:
		return nil, fmt.Errorf("%w: etcd was compacted at %s", lw.ErrExpired, r.CompactRevision)
	case r.Created && r.Header.Revision < after: // its data were restored; it would wait for this revision, and say nothing
		return nil, fmt.Errorf("%w: etcd is at %d", lw.ErrResourceVersionTooLarge, r.Header.Revision)
	case r.Created:
		return []lw.Event[*Entry]{{Type: lw.WatchStarted, ResourceVersion: strconv.FormatInt(after, 10)}}, nil
	case len(r.Events) == 0: // a report of progress: all up to this revision was sent
		return []lw.Event[*Entry]{{Type: lw.Bookmark, ResourceVersion: strconv.FormatInt(r.Header.Revision, 10)}}, nil
	}
	events := make([]lw.Event[*Entry], len(r.Events)) // of whole transactions; the header may be ahead of them
	for i, c := range r.Events {
		events[i] = lw.Event[*Entry]{Type: c.eventType(), Object: c.Kv}
		if i+1 == len(events) || r.Events[i+1].Kv.Revision != c.Kv.Revision {
			events[i].ResourceVersion = c.Kv.Revision
		}
		if c.PrevKv != nil && c.Type == "DELETE" {
			c.Kv.Value, c.Kv.Created = c.PrevKv.Value, c.PrevKv.Created
		}
	}
	return events, nil
}
