package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/bits"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/table"
	"github.com/seed-6d2a410a/listwatch/internal/invalid"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	lwws "github.com/seed-6d2a410a/listwatch/transport/ws"
)

// client returns the client of the collection. With -o wide, it requests the server's columns.
func (s *stream) client(transport lw.Transport) (*lw.Client[*lw.Object], error) {
	opts := &lw.ClientOptions{KeepManagedFields: s.config.output.managedFields}
	if !s.config.output.wide {
		opts.MetadataOnly = s.config.resources.metadataOnly
		return lw.NewClient(transport, s.resource, lw.RawCodec{}, opts)
	}
	s.tables = table.New(transport, s.config.resources.metadataOnly)
	return lw.NewClient(s.tables, s.resource, table.Codec{}, opts)
}

// row returns the server's columns for an object, or nil if there are none.
func (s *stream) row(o *lw.Object) *output.Row {
	if s.tables == nil {
		return nil
	}
	columns, cells := s.tables.Columns(), table.Cells(o)
	if columns == nil || !cells.Exists() {
		return nil
	}
	return &output.Row{Columns: columns, Cells: cells}
}

// shardSelector returns the KEP-5866 selector for a part such as "1/3". It selects a half-open range of 64-bit hashes.
// The last range ends at 2^64.
func shardSelector(shard string) (string, error) {
	part, parts, _ := strings.Cut(shard, "/")
	i, errI := strconv.ParseUint(part, 10, 16)
	n, errN := strconv.ParseUint(parts, 10, 16)
	if errI != nil || errN != nil || i < 1 || i > n {
		return "", fmt.Errorf("--shard %s: expected a part and the number of parts, for example 1/3", shard)
	}
	bound := func(i uint64) string {
		if i == n {
			return "0x10000000000000000"
		}
		hash, _ := bits.Div64(i, 0, n) // i * 2^64 / n
		return fmt.Sprintf("0x%016x", hash)
	}
	return fmt.Sprintf("shardRange(object.metadata.uid,'%s','%s')", bound(i-1), bound(i)), nil
}

// shards returns an error if the server ignores --shard, because such a server would send the whole collection. It
// skips other errors, which the stream reports.
func (s *stream) shards(ctx context.Context, client *lw.Client[*lw.Object]) error {
	selector := s.config.resources.shardSelector
	if selector == "" {
		return nil
	}
	for _, err := range client.List(ctx, lw.ListOptions{ShardSelector: selector, Limit: 1}, &lw.ListMeta{}) {
		if errors.Is(err, invalid.ErrShardIgnored) {
			return fmt.Errorf("%s: %w", s.resource, err)
		}
	}
	return nil
}

// outputEvents converts an event and its changes to output events.
func (s *stream) outputEvents(event lw.Event[*lw.Object], changes []cache.Change[*lw.Object]) []output.Event {
	s.events = s.events[:0]
	now := s.time()
	if s.noInitialState && (event.Type == lw.Modified || event.Type == lw.Deleted) {
		var old *lw.Object
		if event.Type == lw.Modified && len(changes) == 1 { // a recreated object has two changes
			old = changes[0].Old
		}
		s.appendEvent(event.Type, now, event.Object, old)
		return s.events
	}
	for _, d := range changes {
		s.appendChange(now, d)
	}
	return s.events
}

func (s *stream) appendChange(now time.Time, d cache.Change[*lw.Object]) {
	switch {
	case d.Type == cache.Added:
		s.appendEvent(lw.Added, now, d.New, nil)
	case d.Type == cache.Deleted:
		s.appendEvent(lw.Deleted, now, d.Old, nil)
	case s.progress == nil || !isStub(d.Old):
		s.appendEvent(lw.Modified, now, d.New, d.Old)
	case sameVersion(d.Old, d.New): // the previous run printed it
		s.limiter.observe(s.number, d.New)
	default:
		s.appendEvent(lw.Modified, now, d.New, nil)
	}
}

func (s *stream) appendEvent(t lw.EventType, now time.Time, o, old *lw.Object) {
	s.events = append(s.events, output.Event{Type: t, Time: now, Resource: s.kind, Object: o, Old: old, Row: s.row(o)})
}

// isFatal reports whether retrying cannot help with a startup error: a rejection, a malformed request, a missing credential or an
// unreachable server.
func (s *stream) isFatal(cause error) bool {
	if dial, ok := errors.AsType[*net.OpError](cause); ok && dial.Op == "dial" {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](cause); ok || isPlainHTTP(cause) {
		return true
	}
	if _, ok := errors.AsType[*kubeconfig.Error](cause); ok || errors.Is(cause, lwws.ErrFIPS) {
		return true
	}
	if status, ok := errors.AsType[*lw.StatusError](cause); ok && (status.Code == http.StatusBadRequest || status.Code == http.StatusUnprocessableEntity) {
		s.badRequests++
		if s.config.limits.from != "" { // otherwise the engine falls back to a list, which --from excludes
			return true
		}
	}
	return lw.IsPermanent(cause) || errors.Is(cause, invalid.ErrNotList) || s.badRequests > 1
}
