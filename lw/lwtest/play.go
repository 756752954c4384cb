package lwtest

import (
	"errors"

	"github.com/seed-6d2a410a/listwatch/internal/revlog"
)

// Play writes an object as it was on another server, with all that a server owns of it: its uid, its times and its resource
// version, if that is a number above this server's revision, and else the next one. An object of the same name is replaced.
// Resource and obj are those of [Server.Create].
func (s *Server) Play(resource string, obj any) (Object, error) {
	res, f, err := s.parse(resource, obj)
	if err != nil {
		return Object{}, err
	}
	o, err := s.play(res, f, false)
	return s.shown(res, o, err)
}

// PlayDelete is [Server.Play] for a deletion: obj is the object's last state, with the version of the deletion. If there is
// no such object, it is a [*Status] of the reason NotFound.
func (s *Server) PlayDelete(resource string, obj any) error {
	res, f, err := s.parse(resource, obj)
	if err == nil {
		_, err = s.play(res, f, true)
	}
	return err
}

// PlayTo moves the server's revision to a resource version without a write, as bookmarks and lists tell of versions. One
// that is no number, or is lower, changes nothing.
func (s *Server) PlayTo(resourceVersion string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.Advance(revisionOf(resourceVersion))
	s.wake()
}

// revisionOf returns a version's number; 0 if it is none, or leaves no room for others above it.
func revisionOf(version string) int64 {
	revision, err := parseVersion(version)
	if err != nil || revision > 1<<62 {
		return 0
	}
	return revision
}

func (s *Server) play(res *Resource, f fields, deleted bool) (*object, error) {
	meta, err := metadata(f)
	if err != nil {
		return nil, badRequest("%v", err)
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
		return nil, badRequest("an object without a name")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.Advance(revisionOf(text(meta, "resourceVersion")) - 1)
	o, err := s.encodeNext(res, f)
	if err != nil {
		return nil, err
	}
	if deleted {
		_, err = s.log.Delete(res.id(), key, 0, o)
	} else if _, err = s.log.Update(res.id(), key, 0, o); errors.Is(err, revlog.ErrNotFound) {
		_, err = s.log.Create(res.id(), key, o)
	}
	if err != nil {
		return nil, notFound(res, name)
	}
	s.wrote()
	return o, nil
}
