package lwtest

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Put creates or replaces an object. The resource is a name such as "pods" or, outside the core group,
// "deployments.apps". The object is JSON ([]byte or string) or a value that encodes to JSON. A namespaced object
// without a namespace goes to "default". If the object has a resourceVersion, the stored object must have the same one.
// If nothing changes, Put writes nothing. Put returns the object that a GET request would return, or the
// *lw.StatusError that an HTTP client would receive.
func (s *Server) Put(resource string, obj any) (*lw.Object, error) {
	res, err := s.resource(resource)
	if err != nil {
		return nil, err
	}
	f, meta, err := decodeObject(obj)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	namespace := ""
	if res.namespaced {
		namespace = cmp.Or(text(meta, "namespace"), "default")
	}
	o, err := s.update(res, namespace, text(meta, "name"), goManager, func(*object) fields { return f })
	if status, ok := err.(*lw.StatusError); ok && status.Reason == "NotFound" && text(meta, "resourceVersion") == "" {
		o, err = s.create(res, namespace, f, goManager)
		if status, ok := err.(*lw.StatusError); ok && status.Reason == "AlreadyExists" { // another Put was faster
			return s.Put(resource, obj)
		}
	}
	return o.client(res, err)
}

// decodeObject decodes the argument of [Server.Put].
func decodeObject(obj any) (f, meta fields, err error) {
	var data []byte
	switch obj := obj.(type) {
	case []byte:
		data = obj
	case string:
		data = []byte(obj)
	default:
		if data, err = json.Marshal(obj); err != nil {
			return nil, nil, err
		}
	}
	if f, err = decodeFields(data); err != nil {
		return nil, nil, err
	}
	meta, err = metadata(f)
	return f, meta, err
}

// Delete removes an object immediately. It ignores the namespace of a cluster-scoped resource.
func (s *Server) Delete(resource, namespace, name string) error {
	res, err := s.resource(resource)
	if err != nil {
		return err
	}
	_, err = s.remove(res, namespace, name, nil)
	return err
}

// State returns the latest resourceVersion and all objects of a resource. An up-to-date client holds the same objects.
// The key of an object is "namespace/name", or "name" for a cluster-scoped resource. State panics if the server does
// not serve the resource.
func (s *Server) State(resource string) (resourceVersion string, objects map[string]*lw.Object) {
	res, err := s.resource(resource)
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	revision := s.log.Revision()
	entries, _ := s.log.At(res.id(), "", revision) // At cannot fail for the latest revision
	s.mu.Unlock()
	objects = make(map[string]*lw.Object, len(entries))
	for _, e := range entries {
		objects[e.Key], _ = e.Value.client(res, nil) // stored objects are valid
	}
	return strconv.FormatInt(revision, 10), objects
}

// goManager is the field manager for writes through [Server] methods, because these writes have no User-Agent header.
const goManager = "lwtest"

// client returns the object that a client would decode from o. If err is not nil, client only returns err. This lets
// callers pass both results of a write.
func (o *object) client(res *resource, err error) (*lw.Object, error) {
	if err != nil {
		return nil, err
	}
	return lw.ParseObject(o.whole(res))
}

// create stores a new object and returns it. If the object has no namespace, create uses the namespace in the URL.
func (s *Server) create(res *resource, namespace string, f fields, manager string) (*object, error) {
	meta, err := s.accept(res, f, namespace, "")
	if err != nil {
		return nil, err
	}
	if version, err := parseVersion(text(meta, "resourceVersion")); err == nil && version != 0 {
		// kube-apiserver also sends 500 without a reason, here and for an invalid Binding.
		return nil, newError(http.StatusInternalServerError, "", "resourceVersion should not be set on objects to be created")
	}
	if err := setName(res, meta); err != nil {
		return nil, err
	}
	now := timestamp()
	meta["uid"], meta["creationTimestamp"] = newUID(), now
	delete(meta, "generation")
	if res.generation {
		meta["generation"] = json.Number("1")
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	name := text(meta, "name")
	if _, exists := s.log.Get(res.id(), res.key(namespace, name)); exists {
		return nil, objectError(http.StatusConflict, "AlreadyExists", res, name, "%s %q already exists", res.id(), name)
	}
	return s.store(res, f, own(nil, f, manager, now))
}

// update replaces an object with the result of change. If change modifies nothing, update writes nothing, like
// kube-apiserver.
func (s *Server) update(res *resource, namespace, name string, manager string, change func(old *object) fields) (*object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry, ok := s.log.Get(res.id(), res.key(namespace, name))
	if !ok {
		return nil, notFound(res, name)
	}
	f := change(entry.Value)
	meta, err := s.accept(res, f, namespace, name)
	if err != nil {
		return nil, err
	}
	if given := text(meta, "resourceVersion"); given != "" && given != entry.Value.version {
		return nil, conflict(res, name, "the object has been modified; please apply your changes to the latest version and try again")
	}
	old := entry.Value.decode()
	if err := keepServerFields(res, old, f); err != nil {
		return nil, err
	}
	if reflect.DeepEqual(old, f) {
		return entry.Value, nil
	}
	return s.store(res, f, own(entry.Value, f, manager, timestamp()))
}

// remove deletes an object immediately and returns its last state. If preconditions contains a uid or a
// resourceVersion, it must match the stored object.
func (s *Server) remove(res *resource, namespace, name string, preconditions fields) (*object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := res.key(namespace, name)
	entry, ok := s.log.Get(res.id(), key)
	if !ok {
		return nil, notFound(res, name)
	}
	if why := unmet(preconditions, entry.Value); why != "" {
		return nil, conflict(res, name, "%s", why)
	}
	if entry.Value.defines != nil {
		s.undefine(entry.Value.defines) // deletes the objects before their definition, like kube-apiserver
	}
	last := entry.Value.withVersion(res, s.log.Revision()+1)
	s.log.Delete(res.id(), key, last)
	s.wrote()
	return last, nil
}

// unmet describes the first precondition that the object does not meet. It returns "" if the object meets all of them.
func unmet(preconditions fields, o *object) string {
	if uid := text(preconditions, "uid"); uid != "" && uid != o.uid {
		return fmt.Sprintf(otherUID, uid, o.uid)
	}
	if version := text(preconditions, "resourceVersion"); version != "" && version != o.version {
		return fmt.Sprintf("Precondition failed: ResourceVersion in precondition: %s, ResourceVersion in object meta: %s", version, o.version)
	}
	return ""
}

// accept validates the fields of an object from a client and prepares them for storage. It returns the metadata. name
// is empty for a new object.
func (s *Server) accept(res *resource, f fields, namespace, name string) (fields, error) {
	if kind := text(f, "kind"); kind != "" && kind != res.kind {
		return nil, badRequest("the kind in the data (%s) does not match the expected kind (%s)", kind, res.kind)
	}
	if v := text(f, "apiVersion"); v != "" && v != res.apiVersion() {
		return nil, badRequest("the API version in the data (%s) does not match the expected API version (%s)", v, res.apiVersion())
	}
	delete(f, "kind")
	delete(f, "apiVersion")
	if !res.builtin { // list items of built-in resources omit these fields
		f["kind"], f["apiVersion"] = res.kind, res.apiVersion()
	}
	meta, err := metadata(f)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	// A null counts as a missing field. For example, Go clients send "creationTimestamp":null in new objects.
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
	if res.namespaced {
		meta["namespace"] = namespace
	}
	return meta, nil
}

// setName generates the name of a new object if necessary, and validates name and namespace.
func setName(res *resource, meta fields) error {
	if text(meta, "name") == "" {
		prefix := text(meta, "generateName")
		if prefix == "" {
			return invalid(res, "", lw.StatusCause{
				Reason: "FieldValueRequired", Field: "metadata.name",
				Message: "Required value: name or generateName is required",
			})
		}
		meta["name"] = prefix + strings.ToLower(rand.Text()[:5]) // kube-apiserver also appends five random characters
	}
	for _, field := range []string{"name", "namespace"} {
		valid := subdomain
		if field == "name" && res.group == "rbac.authorization.k8s.io" {
			valid = segment
		}
		if value, ok := meta[field]; ok && !valid.MatchString(text(meta, field)) {
			return invalid(res, text(meta, "name"), lw.StatusCause{
				Reason: "FieldValueInvalid", Field: "metadata." + field,
				Message: fmt.Sprintf("Invalid value: %q: a lowercase RFC 1123 subdomain must consist of lower case "+
					"alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character", value),
			})
		}
	}
	return nil
}

// subdomain matches an RFC 1123 subdomain, the name format of most resources. Its maximum length is 253 characters.
var subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)

// segment matches a path segment that does not consist of dots, for example "system:node". RBAC resources have such names.
var segment = regexp.MustCompile(`^[^/%]*[^/%.][^/%]*$`)

const otherUID = "Precondition failed: UID in precondition: %s, UID in object meta: %s"

// keepServerFields copies the fields that clients cannot change from old to f, and updates the generation.
func keepServerFields(res *resource, old, f fields) error {
	was, meta := old["metadata"].(fields), f["metadata"].(fields)
	if uid := text(meta, "uid"); uid != "" && uid != text(was, "uid") {
		return conflict(res, text(was, "name"), otherUID, uid, text(was, "uid"))
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
	rest := func(f fields) fields {
		f = maps.Clone(f)
		delete(f, "metadata")
		delete(f, "status")
		return f
	}
	return reflect.DeepEqual(rest(a), rest(b))
}

// store writes an object with the next resourceVersion. If the object is a CustomResourceDefinition, the server also
// starts to serve its resource. The caller must hold s.mu.
func (s *Server) store(res *resource, f fields, owners map[fieldPath]owner) (*object, error) {
	f["metadata"].(fields)["resourceVersion"] = strconv.FormatInt(s.log.Revision()+1, 10)
	o, err := encodeObject(res, f, owners)
	if err == nil && res.id() == definitions {
		o.defines, err = definedBy(o)
	}
	if err != nil {
		return nil, badRequest("%v", err)
	}
	s.log.Put(res.id(), res.key(o.namespace, o.name), o)
	if o.defines != nil {
		s.define(o.defines)
	}
	s.wrote()
	return o, nil
}

// binding is the name of the Pod subresource that assigns a Pod to a node.
const binding = "binding"

// bind assigns an unassigned Pod to the node that the Binding in the request's body names.
func (s *Server) bind(r *http.Request, rt route) error {
	if rt.verb != "create" {
		return methodNotAllowed()
	}
	f, err := readBody(r, "application/json")
	if err != nil {
		return err
	}
	meta, err := metadata(f)
	if err != nil {
		return badRequest("%v", err)
	}
	if err := validateBinding(rt, f, meta); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	res, key := rt.resource, rt.resource.key(rt.namespace, rt.name)
	entry, ok := s.log.Get(res.id(), key)
	if !ok {
		return notFound(res, rt.name)
	}
	if why := unmet(meta, entry.Value); why != "" {
		return conflict(res, rt.name, "StorageError: invalid object, Code: 4, Key: /registry/pods/%s, ResourceVersion: 0, AdditionalErrorMsg: %s", key, why)
	}
	pod := entry.Value.decode()
	if why := unbindable(pod); why != "" {
		pods := &resource{plural: res.plural + "/" + binding} // the error names the subresource
		return conflict(pods, rt.name, "pod %s %s", rt.name, why)
	}
	assign(pod, f)
	_, err = s.store(res, pod, entry.Value.owners)
	return err
}

func validateBinding(rt route, f, meta fields) error {
	if kind := text(f, "kind"); kind != "" && kind != "Binding" {
		return badRequest("%s in version %q cannot be handled as a Binding", kind, text(f, "apiVersion"))
	}
	if given := text(meta, "namespace"); given != "" && given != rt.namespace {
		return badRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	if text(meta, "name") != rt.name {
		return badRequest("name in URL does not match name in Binding object")
	}
	target, _ := f["target"].(fields)
	var bad []string
	if kind := text(target, "kind"); kind != "" && kind != "Node" {
		bad = append(bad, fmt.Sprintf(`target.kind: Unsupported value: %q: supported values: "Node", "<empty>"`, kind))
	}
	if text(target, "name") == "" {
		bad = append(bad, "target.name: Required value")
	}
	if len(bad) == 0 {
		return nil
	}
	return newError(http.StatusInternalServerError, "", "%s", inBrackets(bad))
}

// unbindable returns the reason why the Pod cannot be assigned to a node, or "" if it can.
func unbindable(pod fields) string {
	spec, _ := pod["spec"].(fields)
	if node := text(spec, "nodeName"); node != "" {
		return "is already assigned to node " + strconv.Quote(node)
	}
	if gates, _ := spec["schedulingGates"].([]any); len(gates) > 0 {
		return "has non-empty .spec.schedulingGates"
	}
	return ""
}

// assign sets the Pod's node and PodScheduled condition, and copies the Binding's labels and annotations to the Pod.
// Like a real server, it does not change generation or managedFields.
func assign(pod, f fields) {
	child(pod, "spec")["nodeName"] = text(f["target"].(fields), "name")
	for _, part := range []string{"labels", "annotations"} {
		if given, _ := f["metadata"].(fields)[part].(fields); len(given) > 0 {
			maps.Copy(child(pod["metadata"].(fields), part), given)
		}
	}
	status := child(pod, "status")
	delete(status, "nominatedNodeName")
	given, _ := status["conditions"].([]any)
	scheduled := fields{"type": "PodScheduled", "status": "True", "lastProbeTime": nil, "lastTransitionTime": timestamp()}
	for i, c := range given {
		if condition, _ := c.(fields); text(condition, "type") == "PodScheduled" {
			given[i] = scheduled
			return
		}
	}
	status["conditions"] = append(given, scheduled)
}

// child returns the nested object at key. It adds an empty object if the key is missing.
func child(f fields, key string) fields {
	c, ok := f[key].(fields)
	if !ok {
		c = fields{}
		f[key] = c
	}
	return c
}
