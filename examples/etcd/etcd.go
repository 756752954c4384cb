// Package etcd implements an lw.ListerWatcher for the keys of an etcd server, using etcd's JSON gateway. It is a model
// for other data sources:
//
//   - The resourceVersion is etcd's revision. It expires when etcd is compacted.
//   - All pages of a list have the same revision. The watch starts at the next revision.
//   - A transaction writes several keys at one revision. Only its last event has a resourceVersion.
//   - The progress notifications of a watch become bookmarks. A watch ends at its timeout.
//
// Start etcd with --watch-progress-notify-interval=1m. The default of 10m is longer than a watch, so the client would
// have to relist after each compaction if the keys do not change.
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

// Entry is a key and its value. It must not be modified.
type Entry struct {
	Key      []byte `json:"key"`
	Value    []byte `json:"value"` // a deleted key has its last value, or an empty value if etcd has compacted the last one
	Created  string `json:"create_revision"`
	Revision string `json:"mod_revision"` // revision of the last write or of the deletion
}

// GetNamespace, GetName and GetResourceVersion implement lw.Keyed. etcd has no namespaces.
func (e *Entry) GetNamespace() string       { return "" }
func (e *Entry) GetName() string            { return string(e.Key) }
func (e *Entry) GetResourceVersion() string { return e.Revision }

// Keys is an lw.ListerWatcher for the keys that start with Prefix. It does not support selectors.
type Keys struct {
	URL    string      // URL of etcd, for example "http://127.0.0.1:2379"
	Prefix string      // must not be empty and must not end with the byte 0xff; see end
	Client http.Client // must not have a Timeout, because it would end every watch
}

// List implements lw.ListerWatcher. All pages of a list have the same revision as the first page. The continue token of a
// page consists of this revision, a space, and the first possible key of the next page. List ignores opts.ResourceVersion,
// because the first page always has the latest revision.
func (k *Keys) List(ctx context.Context, opts lw.ListOptions) *lw.Page[*Entry] {
	page := new(lw.Page[*Entry])
	page.Objects = func(yield func(*Entry, error) bool) {
		revision, first, later := strings.Cut(opts.Continue, " ")
		if !later {
			revision, first = "0", k.Prefix // 0 stands for the latest revision
		}
		var answer struct {
			Header struct{ Revision string }
			Kvs    []*Entry
			More   bool
		}
		body, err := k.post(ctx, "/v3/kv/range", map[string]any{
			"key": []byte(first), "range_end": k.end(), "revision": revision, "limit": opts.Limit})
		if err == nil {
			defer body.Close()
			err = json.NewDecoder(body).Decode(&answer)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for _, entry := range answer.Kvs {
			if !yield(entry, nil) {
				return
			}
		}
		if page.ResourceVersion = answer.Header.Revision; later { // the header of a later page contains the latest revision
			page.ResourceVersion = revision
		}
		if answer.More {
			// The smallest key after the last one is the last one with a zero byte appended.
			page.Continue = page.ResourceVersion + " " + answer.Kvs[len(answer.Kvs)-1].GetName() + "\x00"
		}
	}
	return page
}

// errTimeout is the cancellation cause of a watch that reaches its timeout. etcd itself has no timeout for watches.
var errTimeout = errors.New("watch timeout")

// Watch implements lw.ListerWatcher.
func (k *Keys) Watch(ctx context.Context, opts lw.ListOptions) iter.Seq2[lw.Event[*Entry], error] {
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

// Source implements lw.ListerWatcher. etcd has no streaming lists.
func (k *Keys) Source() *lw.Source[*Entry] { return nil }

// follow watches the keys and calls emit for each event after the given revision. It returns io.EOF when the stream
// ends or emit returns false.
func (k *Keys) follow(ctx context.Context, version string, emit func(lw.Event[*Entry]) bool) error {
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
			if !emit(event) {
				return io.EOF
			}
		}
	}
}

// events converts a message to events. The argument is the revision after which the watch started.
func (m *message) events(after int64) ([]lw.Event[*Entry], error) {
	r := &m.Result
	switch {
	case m.Error.Message != "" || r.Canceled && r.CompactRevision == "": // the gateway omits a CompactRevision of zero
		return nil, errors.New("etcd: " + m.Error.Message + r.CancelReason)
	case r.Canceled:
		return nil, fmt.Errorf("%w: etcd was compacted at revision %s", lw.ErrExpired, r.CompactRevision)
	case r.Created && r.Header.Revision < after:
		// etcd reports no error for a watch from a future revision, for example after a restore. The watch would block.
		return nil, fmt.Errorf("%w: etcd is at revision %d", lw.ErrResourceVersionTooLarge, r.Header.Revision)
	case r.Created:
		return []lw.Event[*Entry]{{Type: lw.WatchStarted, ResourceVersion: strconv.FormatInt(after, 10)}}, nil
	case len(r.Events) == 0: // a progress notification: etcd has sent all events up to this revision
		return []lw.Event[*Entry]{{Type: lw.Bookmark, ResourceVersion: strconv.FormatInt(r.Header.Revision, 10)}}, nil
	}
	// A response never splits a transaction. The revision in its header may be newer than the revisions of the events.
	events := make([]lw.Event[*Entry], len(r.Events))
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
