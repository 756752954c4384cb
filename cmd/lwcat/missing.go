package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// notFoundError reports a named object that does not exist. It does not end the other streams.
type notFoundError struct{ resource lw.Resource }

func (e *notFoundError) Error() string {
	text := fmt.Sprintf("%s %q not found", shortName(e.resource), e.resource.Name)
	if e.resource.Namespace != "" {
		text += fmt.Sprintf(" in namespace %q", e.resource.Namespace)
	}
	return text
}

// errFailed reports that a stream failed while other streams continued. The error of the stream has already been
// logged.
var errFailed = errors.New("the stream of a resource failed")

// count updates the number of existing objects.
func (s *stream) count(changes []cache.Change[*lw.Object]) {
	for _, d := range changes {
		switch d.Type {
		case cache.Added:
			s.objects++
		case cache.Deleted:
			s.objects--
		}
	}
}

// missing returns a *notFoundError if the stream names an object that does not exist, and otherwise nil.
func (s *stream) missing() error {
	if s.resource.Name == "" || s.objects > 0 || s.config.limits.hasGoal() {
		return nil
	}
	return &notFoundError{s.resource}
}

// checkNamespace warns in the background if the namespace of an empty collection does not exist. It ignores errors,
// because a user may lack permission to read namespaces.
func (s *stream) checkNamespace(ctx context.Context, transport lw.Transport) {
	name := s.resource.Namespace
	if name == "" || name == "default" || s.objects > 0 || s.now != nil {
		return
	}
	s.checks.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		body, err := transport.Open(ctx, &lw.Request{Path: "/api/v1/namespaces/" + name})
		if err == nil {
			_ = body.Close()
		}
		status, ok := errors.AsType[*lw.StatusError](err)
		switch {
		case !ok || status.Code != http.StatusNotFound || status.Name != name: // this response does not prove that the namespace is missing
		case s.config.limits.once:
			s.status.logOnce("namespace %q does not exist", name)
		default:
			s.status.logOnce("namespace %q does not exist: waiting for it", name)
		}
	})
}
