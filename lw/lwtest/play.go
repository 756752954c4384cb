package lwtest

import (
	"errors"

	"github.com/seed-6d2a410a/listwatch/internal/playback"
	"github.com/seed-6d2a410a/listwatch/internal/revlog"
)

// player implements playback.Server for a [Server].
type player Server

func init() {
	playback.Of = func(server any) playback.Server { return (*player)(server.(*Server)) }
}

func (p *player) Play(resource string, obj any) error {
	s := (*Server)(p)
	res, f, err := s.parse(resource, obj)
	if err == nil {
		err = s.play(res, f)
	}
	return clientError(err)
}

func (p *player) PlayTo(resourceVersion string) {
	s := (*Server)(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.Advance(revisionOf(resourceVersion))
	s.wake()
}

func (p *player) CompressStreamingLists() { p.compresses.Store(true) }

// revisionOf returns a resourceVersion as a number. It returns 0 for invalid or extremely large values.
func revisionOf(version string) int64 {
	revision, err := parseVersion(version)
	if err != nil || revision > 1<<62 {
		return 0
	}
	return revision
}

func (s *Server) play(res *Resource, f fields) error {
	meta, err := metadata(f)
	if err != nil {
		return badRequest("%v", err)
	}
	if f["kind"], f["apiVersion"] = res.Kind, res.apiVersion(); res.builtin {
		delete(f, "kind")
		delete(f, "apiVersion")
	}
	if res.Namespaced {
		meta["namespace"] = namespaceOf(res, f)
	}
	name, key := text(meta, "name"), res.key(text(meta, "namespace"), text(meta, "name"))
	if name == "" {
		return badRequest("the object has no name")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.Advance(revisionOf(text(meta, "resourceVersion")) - 1)
	o, err := s.encodeNext(res, f)
	if err != nil {
		return err
	}
	if _, err = s.log.Update(res.id(), key, 0, o); errors.Is(err, revlog.ErrNotFound) {
		_, err = s.log.Create(res.id(), key, o)
	}
	if err != nil {
		return notFound(res, name)
	}
	s.wrote()
	return nil
}
