package main

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/internal/invalid"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	lwws "github.com/seed-6d2a410a/listwatch/transport/ws"
)

// told makes of an event and its changes what is printed.
func (s *stream) told(event lw.Event[*lw.Object], changes []cache.Change[*lw.Object]) []output.Event {
	s.events = s.events[:0]
	now := s.clock()
	if s.blind && (event.Type == lw.Modified || event.Type == lw.Deleted) {
		var old *lw.Object
		if event.Type == lw.Modified && len(changes) == 1 { // a recreated object makes two
			old = changes[0].Old
		}
		s.add(event.Type, now, event.Object, old)
		return s.events
	}
	for _, d := range changes {
		s.change(now, d)
	}
	return s.events
}

func (s *stream) change(now time.Time, d cache.Change[*lw.Object]) {
	switch {
	case d.Type == cache.Added:
		s.add(lw.Added, now, d.New, nil)
	case d.Type == cache.Deleted:
		s.add(lw.Deleted, now, d.Old, nil)
	case s.kept == nil || !isStub(d.Old):
		s.add(lw.Modified, now, d.New, d.Old)
	case !sameVersion(d.Old, d.New): // else it was printed by the run before
		s.add(lw.Modified, now, d.New, nil)
	}
}

func (s *stream) add(t lw.EventType, now time.Time, o, old *lw.Object) {
	s.events = append(s.events, output.Event{Type: t, Time: now, Resource: s.kind, Object: o, Old: old, Row: s.row(o)})
}

// hopeless reports whether an error at the start will not pass by itself: a refusal, a request that is wrong, no credential, or no
// way to the server. The first request that is found wrong may be one for a streaming list, which not every server knows.
func (s *stream) hopeless(cause error) bool {
	if dial, ok := errors.AsType[*net.OpError](cause); ok && dial.Op == "dial" {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](cause); ok || speaksPlainly(cause) {
		return true
	}
	if _, ok := errors.AsType[*kubeconfig.Error](cause); ok || errors.Is(cause, lwws.ErrFIPS) {
		return true
	}
	if status, ok := errors.AsType[*lw.StatusError](cause); ok && (status.Code == http.StatusBadRequest || status.Code == http.StatusUnprocessableEntity) {
		s.wrong++
		if s.config.when.from != "" { // else a list would follow, which nobody has asked for
			return true
		}
	}
	return lw.IsPermanent(cause) || errors.Is(cause, invalid.ErrNotList) || s.wrong > 1
}

// A stub stands for an object of which --resume has kept the name and versions only.
