package main

import (
	"crypto/fips140"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/table"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
)

// client returns a client for the stream's collection. If the output shows the server's columns, it requests them.
func (s *stream) client(transport lw.Transport) (*lw.Client[*lw.Object], error) {
	opts := &lw.ClientOptions{KeepManagedFields: s.config.output.managedFields}
	if !s.config.output.columns() {
		opts.MetadataOnly = s.config.resources.metadataOnly
		return lw.NewClient(transport, s.resource, lw.RawCodec{}, opts)
	}
	s.tables = table.New(transport)
	return lw.NewClient(s.tables, s.resource, table.Codec{}, opts)
}

// outputEvents converts an event and its changes to output events. The result is valid until the next call. With
// --from, the store does not know which objects already exist, so it may treat a modified object as an added one.
// outputEvents then uses the type and the object that the server sent.
func (s *stream) outputEvents(event lw.Event[*lw.Object], changes []cache.Change[*lw.Object]) []output.Event {
	s.events = s.events[:0]
	now := time.Now()
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
	case d.Type == lw.Added:
		s.appendEvent(lw.Added, now, d.New, nil)
	case d.Type == lw.Deleted:
		s.appendEvent(lw.Deleted, now, d.Old, nil)
	case s.out.resume == nil || d.Old.Get("metadata.creationTimestamp").Exists(): // unlike the stubs in a resume file
		s.appendEvent(lw.Modified, now, d.New, d.Old)
	case d.Old.GetUID() == d.New.GetUID() && d.Old.GetResourceVersion() == d.New.GetResourceVersion():
		// The previous run has already printed this version, but --until needs the complete object.
		s.limiter.take(s.resource.String(), []output.Event{{Type: lw.Modified, Object: d.New}}, true)
	default:
		s.appendEvent(lw.Modified, now, d.New, nil)
	}
}

func (s *stream) appendEvent(t lw.EventType, now time.Time, o, old *lw.Object) {
	event := output.Event{Type: t, Time: now, Resource: s.kind, Order: s.order, Object: o, Old: old}
	if s.tables != nil {
		event.Columns, event.Cells = s.tables.Columns(), table.Cells(o)
	}
	if s.config.resources.selects(&event) {
		s.events = append(s.events, event)
	}
}

// isAbsent reports whether err means that the resource does not exist or that the server is unreachable. lwcat
// retries after such errors if --wait is set.
func isAbsent(err error) bool {
	dial, isDial := errors.AsType[*net.OpError](err)
	return isDial && (dial.Op == "dial" || dial.Op == "proxyconnect") || isUnknown(err) || errors.Is(err, lw.ErrNotFound)
}

// isFatal reports whether an error at startup ends the stream, because a retry is unlikely to succeed. Examples are a
// rejected request, an invalid certificate and, without --wait, an unreachable server. A first response with status 400
// or 422 is not fatal: the server may only reject streaming lists, and lw then retries with an ordinary list.
func (s *stream) isFatal(cause error) bool {
	if isAbsent(cause) {
		return !s.config.resources.wait
	}
	_, badCertificate := errors.AsType[*tls.CertificateVerificationError](cause)
	_, badKubeconfig := errors.AsType[*kubeconfig.Error](cause)
	unsupported := fips140.Enforced() && errors.Is(cause, errors.ErrUnsupported) // for example WebSocket, which needs SHA-1
	if status, ok := errors.AsType[*lw.StatusError](cause); ok && (status.Code == http.StatusBadRequest || status.Code == http.StatusUnprocessableEntity) {
		s.badRequests++
	}
	// With --from, even the first response is fatal, because a retry would begin with a list, but --from excludes lists.
	rejected := s.badRequests > 1 || s.badRequests > 0 && s.config.limits.from != ""
	return badCertificate || badKubeconfig || unsupported || rejected || isPlainHTTP(cause) || lw.IsPermanent(cause) || errors.Is(cause, lw.ErrNotList)
}
