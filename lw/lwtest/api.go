package lwtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/internal/revlog"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Create stores a new object. The resource is a name such as "pods" or, outside the core group, "deployments.apps". The
// object is JSON ([]byte or string) or a value that encodes to JSON. A namespaced object without a namespace goes to
// "default". Create returns the stored object as a GET request would. The error is the *lw.StatusError that an HTTP
// client would get.
func (s *Server) Create(resource string, obj any) (*lw.Object, error) {
	res, f, err := s.parse(resource, obj)
	if err != nil {
		return nil, clientError(err)
	}
	o, err := s.create(res, namespaceOf(res, f), f, goManager)
	return s.shown(res, o, err)
}

// Put creates or replaces an object. If the object has a resourceVersion, it must match that of the stored object. If
// nothing changes, Put writes nothing. It has the same arguments and results as [Server.Create].
func (s *Server) Put(resource string, obj any) (*lw.Object, error) {
	res, f, err := s.parse(resource, obj)
	if err != nil {
		return nil, clientError(err)
	}
	meta, err := metadata(f)
	if err != nil {
		return nil, badRequest("%v", err).client()
	}
	namespace := namespaceOf(res, f)
	o, err := s.update(res, namespace, text(meta, "name"), goManager, func(*object) fields { return f })
	if status, ok := err.(*apiStatus); ok && status.Reason == "NotFound" && text(meta, "resourceVersion") == "" {
		o, err = s.create(res, namespace, f, goManager)
	}
	return s.shown(res, o, err)
}

// Delete removes an object immediately. It ignores the namespace of a cluster-scoped resource.
func (s *Server) Delete(resource, namespace, name string) error {
	res, ok := s.resource(resource)
	if !ok {
		return unknownResource(resource).client()
	}
	_, err := s.remove(res, namespace, name, "", 0)
	return clientError(err)
}

// State returns the latest resourceVersion and all objects of a resource, as an up-to-date client would hold them. The
// key of an object is "namespace/name", or "name" for a cluster-scoped resource. State panics if the server does not
// serve the resource.
func (s *Server) State(resource string) (resourceVersion string, objects map[string]*lw.Object) {
	res, ok := s.resource(resource)
	if !ok {
		panic(unknownResource(resource).Error())
	}
	revision, entries := s.state(res)
	objects = make(map[string]*lw.Object, len(entries))
	for _, e := range entries {
		objects[e.Key] = e.Value.client(res)
	}
	return strconv.FormatInt(revision, 10), objects
}

func (s *Server) state(res *Resource) (revision int64, entries []revlog.Entry[*object]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	revision = s.log.Revision()
	entries, _ = s.log.At(res.id(), "", revision) // At cannot fail for the latest revision
	return revision, entries
}

// goManager is the field manager in managedFields for writes through methods of [Server].
const goManager = "lwtest"

func (s *Server) parse(resource string, obj any) (*Resource, fields, error) {
	res, ok := s.resource(resource)
	if !ok {
		return nil, nil, unknownResource(resource)
	}
	var data []byte
	switch obj := obj.(type) {
	case []byte:
		data = obj
	case string:
		data = []byte(obj)
	default:
		var err error
		if data, err = json.Marshal(obj); err != nil {
			return nil, nil, badRequest("%v", err)
		}
	}
	f, err := decodeFields(data)
	if err != nil {
		return nil, nil, badRequest("%v", err)
	}
	return res, f, nil
}

func namespaceOf(res *Resource, f fields) string {
	if !res.Namespaced {
		return ""
	}
	meta, _ := f["metadata"].(fields)
	if namespace := text(meta, "namespace"); namespace != "" {
		return namespace
	}
	return "default"
}

func (s *Server) shown(res *Resource, o *object, err error) (*lw.Object, error) {
	if err != nil {
		return nil, clientError(err)
	}
	return o.client(res), nil
}

// client returns the object as a client receives it.
func (o *object) client(res *Resource) *lw.Object {
	decoded, err := lw.ParseObject(o.whole(res))
	if err != nil {
		panic(fmt.Sprintf("lwtest: parse a stored object: %v", err))
	}
	return decoded
}

func unknownResource(name string) *apiStatus {
	return &apiStatus{
		Code: http.StatusNotFound, Reason: "NotFound", Details: &apiDetails{},
		Message: fmt.Sprintf("the server does not have a resource %q", name),
	}
}
