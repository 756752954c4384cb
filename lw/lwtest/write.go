package lwtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/internal/revlog"
)

// create stores a new object and returns it. If the object has no namespace, create uses the namespace in the URL.
func (s *Server) create(res *Resource, namespace string, f fields, manager string) (*object, error) {
	meta, err := s.accept(res, f, namespace, "")
	if err != nil {
		return nil, err
	}
	if version, err := parseVersion(text(meta, "resourceVersion")); err == nil && version != 0 {
		return nil, &apiStatus{Code: http.StatusInternalServerError, Message: "resourceVersion should not be set on objects to be created"}
	}
	if err := setName(res, meta); err != nil {
		return nil, err
	}
	now := timestamp()
	meta["uid"], meta["creationTimestamp"] = newUID(), now
	delete(meta, "generation")
	delete(meta, "managedFields")
	if res.generation {
		meta["generation"] = json.Number("1")
	}
	manage(res, nil, f, manager, now)

	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.encodeNext(res, f)
	if err != nil {
		return nil, err
	}
	if _, err := s.log.Create(res.id(), res.key(o.namespace, o.name), o); err != nil {
		return nil, alreadyExists(res, o.name)
	}
	s.wrote()
	return o, nil
}

// update replaces an object with the result of change. If change modifies nothing, update writes nothing, like
// kube-apiserver.
func (s *Server) update(res *Resource, namespace, name string, manager string, change func(old *object) fields) (*object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := res.key(namespace, name)
	entry, ok := s.log.Get(res.id(), key)
	if !ok {
		return nil, notFound(res, name)
	}
	f := change(entry.Value)
	meta, err := s.accept(res, f, namespace, name)
	if err != nil {
		return nil, err
	}
	version := strconv.FormatInt(entry.Revision, 10)
	if given := text(meta, "resourceVersion"); given != "" && given != version {
		return nil, conflict(res, name, "the object has been modified; please apply your changes to the latest version and try again")
	}
	old := entry.Value.decode()
	if err := keepServerFields(res, old, f); err != nil {
		return nil, err
	}
	if reflect.DeepEqual(old, f) {
		return entry.Value, nil
	}
	manage(res, old, f, manager, timestamp())
	o, err := s.encodeNext(res, f)
	if err != nil {
		return nil, err
	}
	if _, err := s.log.Update(res.id(), key, entry.Revision, o); err != nil {
		return nil, err
	}
	s.wrote()
	return o, nil
}

// remove deletes an object immediately. If uid or revision is not zero, it must match the stored object.
func (s *Server) remove(res *Resource, namespace, name, uid string, revision int64) (*object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := res.key(namespace, name)
	entry, ok := s.log.Get(res.id(), key)
	if !ok {
		return nil, notFound(res, name)
	}
	if uid != "" && uid != entry.Value.uid {
		return nil, conflict(res, name, fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", uid, entry.Value.uid))
	}
	last := entry.Value.withVersion(res, s.log.Revision()+1)
	_, err := s.log.Delete(res.id(), key, revision, last)
	if errors.Is(err, revlog.ErrConflict) {
		return nil, conflict(res, name, fmt.Sprintf("Precondition failed: ResourceVersion in precondition: %d, ResourceVersion in object meta: %d", revision, entry.Revision))
	}
	s.wrote()
	return last, nil
}

// accept validates an object from a client and returns the fields to store. The argument name is empty for a new
// object.
func (s *Server) accept(res *Resource, f fields, namespace, name string) (fields, error) {
	if kind := text(f, "kind"); kind != "" && kind != res.Kind {
		return nil, badRequest("the kind in the data (%s) does not match the expected kind (%s)", kind, res.Kind)
	}
	if v := text(f, "apiVersion"); v != "" && v != res.apiVersion() {
		return nil, badRequest("the API version in the data (%s) does not match the expected API version (%s)", v, res.apiVersion())
	}
	delete(f, "kind")
	delete(f, "apiVersion")
	if !res.builtin {
		f["kind"], f["apiVersion"] = res.Kind, res.apiVersion()
	}
	meta, err := metadata(f)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	maps.DeleteFunc(meta, func(_ string, value any) bool { return value == nil })
	if given := text(meta, "namespace"); given != "" && given != namespace {
		return nil, badRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	if given := text(meta, "name"); name != "" && given != "" && given != name {
		return nil, badRequest("the name of the object (%s) does not match the name on the URL (%s)", given, name)
	}
	if name != "" {
		meta["name"] = name
	}
	delete(meta, "namespace")
	if res.Namespaced {
		meta["namespace"] = namespace
	}
	return meta, nil
}

// setName generates the name of a new object if necessary, and validates name and namespace.
func setName(res *Resource, meta fields) error {
	if text(meta, "name") == "" {
		prefix := text(meta, "generateName")
		if prefix == "" {
			return invalid(res, "", apiCause{
				Reason: "FieldValueRequired", Field: "metadata.name",
				Message: "Required value: name or generateName is required",
			})
		}
		meta["name"] = prefix + suffix(5)
	}
	for _, field := range []string{"name", "namespace"} {
		if value, ok := meta[field]; ok && !subdomain.MatchString(text(meta, field)) {
			return invalid(res, text(meta, "name"), apiCause{
				Reason: "FieldValueInvalid", Field: "metadata." + field,
				Message: fmt.Sprintf("Invalid value: %q: a lowercase RFC 1123 subdomain must consist of lower case "+
					"alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character", value),
			})
		}
	}
	return nil
}

// subdomain matches an RFC 1123 subdomain, the name format of most resources.
var subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)

// keepServerFields copies the fields that clients cannot change from old to f, and updates the generation.
func keepServerFields(res *Resource, old, f fields) error {
	was, meta := old["metadata"].(fields), f["metadata"].(fields)
	if uid := text(meta, "uid"); uid != "" && uid != text(was, "uid") {
		return conflict(res, text(was, "name"), fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", uid, text(was, "uid")))
	}
	for _, key := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"} {
		delete(meta, key)
		if value, ok := was[key]; ok {
			meta[key] = value
		}
	}
	if res.generation && !sameSpec(old, f) {
		n, _ := was["generation"].(json.Number).Int64()
		meta["generation"] = json.Number(strconv.FormatInt(n+1, 10))
	}
	return nil
}

// sameSpec reports whether all fields except metadata and status are equal.
func sameSpec(a, b fields) bool {
	for _, pair := range [][2]fields{{a, b}, {b, a}} {
		for key, value := range pair[0] {
			if key != "metadata" && key != "status" && !reflect.DeepEqual(value, pair[1][key]) {
				return false
			}
		}
	}
	return true
}

// encodeNext encodes f with the resourceVersion of the next write. The caller must hold s.mu.
func (s *Server) encodeNext(res *Resource, f fields) (*object, error) {
	f["metadata"].(fields)["resourceVersion"] = strconv.FormatInt(s.log.Revision()+1, 10)
	o, err := encodeObject(res, f)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	return o, nil
}
