package lwtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"

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

// Made is an object that the server does not hold, but has made whenever it shows it.
type Made struct {
	Namespace, Name, UID string // those in its metadata
	// JSON returns the object as a list shows it: compact, without kind and apiVersion if the resource is a built-in one. It
	// must return the same each time, may be called from several goroutines at once, and must not use the server.
	JSON func(resourceVersion string) []byte
}

// PlayMade writes objects as [Server.Play] does, in their order and each under a resource version of its own, and holds
// their names only: for collections that would take too much memory. An object that is written again is held from then on.
// If an object of one of the names is there, that is a [*Status] of the reason AlreadyExists, and nothing is written.
func (s *Server) PlayMade(resource string, objects iter.Seq[Made]) error {
	res, ok := s.resource(resource)
	if !ok {
		return unknownResource(resource)
	}
	var entries []revlog.Entry[*object]
	for m := range objects {
		o := &object{namespace: m.Namespace, name: m.Name, uid: m.UID, made: m.JSON}
		entries = append(entries, revlog.Entry[*object]{Key: res.key(m.Namespace, m.Name), Value: o})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, e := range entries {
		e.Value.version = strconv.FormatInt(s.log.Revision()+1+int64(i), 10)
	}
	if err := s.log.CreateAll(res.id(), entries); err != nil {
		return alreadyExists(res, "one of the names")
	}
	s.wrote()
	return nil
}

// listed is the object as a list shows it.
func (o *object) listed() []byte {
	if o.made != nil {
		return o.made(o.version)
	}
	return o.item
}

// metadata is the encoded metadata.
func (o *object) metadata() []byte {
	if o.made == nil {
		return o.meta
	}
	return metadataOf(o.made(o.version))
}

// labelled is the object's labels.
func (o *object) labelled() map[string]string {
	if o.made == nil {
		return o.labels
	}
	var meta struct{ Labels map[string]string }
	if err := json.Unmarshal(o.metadata(), &meta); err != nil {
		panic(fmt.Sprintf("lwtest: an object that was made has no labels: %v", err))
	}
	return meta.Labels
}
