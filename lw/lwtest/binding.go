package lwtest

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
)

// binding is the name of the Pod subresource that assigns a Pod to a node.
const binding = "binding"

func (s *Server) serveBinding(w http.ResponseWriter, r *http.Request, rt route) {
	if rt.verb != "create" {
		fail(w, r, methodNotAllowed())
		return
	}
	f, err := readBody(r, "application/json")
	if err == nil {
		err = s.bind(rt, f)
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	// Unlike other responses with status Success, this response has a code.
	send(w, r, http.StatusCreated, []byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}`))
}

// bind assigns an unassigned Pod to the node in the Binding f.
func (s *Server) bind(rt route, f fields) error {
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
		return conflict(res, rt.name, fmt.Sprintf("StorageError: invalid object, Code: 4, Key: /registry/pods/%s, ResourceVersion: 0, AdditionalErrorMsg: %s", key, why))
	}
	pod := entry.Value.decode()
	if why := unbindable(pod); why != "" {
		status := conflict(res, rt.name, "")
		status.Details.Kind = res.Plural + "/" + binding
		status.Message = fmt.Sprintf("Operation cannot be fulfilled on %s %q: pod %s %s", status.Details.Kind, rt.name, rt.name, why)
		return status
	}
	assign(pod, f)
	o, err := s.encodeNext(res, pod)
	if err != nil {
		return err
	}
	if _, err := s.log.Update(res.id(), key, entry.Revision, o); err != nil {
		return err
	}
	s.wrote()
	return nil
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
	switch len(bad) {
	case 0:
		return nil
	case 1:
		return &apiStatus{Code: http.StatusInternalServerError, Message: bad[0]}
	}
	return &apiStatus{Code: http.StatusInternalServerError, Message: "[" + strings.Join(bad, ", ") + "]"}
}

// unmet describes the failed precondition of a Binding. It returns "" if all preconditions hold.
func unmet(meta fields, pod *object) string {
	if uid := text(meta, "uid"); uid != "" && uid != pod.uid {
		return fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", uid, pod.uid)
	}
	if version := text(meta, "resourceVersion"); version != "" && version != pod.version {
		return fmt.Sprintf("Precondition failed: ResourceVersion in precondition: %s, ResourceVersion in object meta: %s", version, pod.version)
	}
	return ""
}

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

// child returns the nested object at key. If the object is missing, child adds an empty object.
func child(f fields, key string) fields {
	c, ok := f[key].(fields)
	if !ok {
		c = fields{}
		f[key] = c
	}
	return c
}
