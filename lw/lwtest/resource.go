package lwtest

import (
	"cmp"
	"slices"
	"strings"
)

// Resource describes a resource that the server serves.
type Resource struct {
	Group      string // "" for the core group
	Version    string // default: "v1"
	Kind       string // for example "Widget"
	Plural     string // for example "widgets"
	ShortNames []string
	Namespaced bool
	Columns    []Column // Table columns after the name (default: the age)

	builtin    bool // whether lists begin with metadata, and items omit kind and apiVersion
	generation bool // whether metadata.generation counts the changes outside metadata and status
}

// builtins returns the default resources. The custom resource comes last.
func builtins() []*Resource {
	core := func(kind, plural string, namespaced bool, short ...string) *Resource {
		return &Resource{Version: "v1", Kind: kind, Plural: plural, Namespaced: namespaced, ShortNames: short, builtin: true}
	}
	pods := core("Pod", "pods", true, "po")
	pods.generation = true
	pods.Columns = append([]Column{{Name: "Status", Path: ".status.phase"}}, ageColumn...)
	deployments := core("Deployment", "deployments", true, "deploy")
	deployments.Group, deployments.generation = "apps", true
	return []*Resource{
		core("ConfigMap", "configmaps", true, "cm"),
		core("Event", "events", true, "ev"),
		core("Namespace", "namespaces", false, "ns"),
		core("Node", "nodes", false, "no"),
		pods,
		core("Secret", "secrets", true),
		core("Service", "services", true, "svc"),
		deployments,
		{Group: "lw.example.com", Version: "v1", Kind: "Widget", Plural: "widgets", ShortNames: []string{"wd"}, Namespaced: true, generation: true},
	}
}

func (r *Resource) singular() string { return strings.ToLower(r.Kind) }

// id returns a name such as "pods" or "deployments.apps".
func (r *Resource) id() string {
	if r.Group == "" {
		return r.Plural
	}
	return r.Plural + "." + r.Group
}

func (r *Resource) apiVersion() string { return groupVersion(r.Group, r.Version) }

func groupVersion(group, version string) string {
	if group == "" {
		return version
	}
	return group + "/" + version
}

// key returns the key of an object in the log. All keys of a namespace share a prefix.
func (r *Resource) key(namespace, name string) string {
	if !r.Namespaced {
		return name
	}
	return namespace + "/" + name
}

// AddResource adds a custom resource, as if a CustomResourceDefinition were created. In its lists, items come before
// metadata, and each item has kind and apiVersion. It replaces an existing resource with the same name and keeps the
// objects.
func (s *Server) AddResource(r Resource) {
	r.Version, r.generation = cmp.Or(r.Version, "v1"), true
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resources = append(slices.DeleteFunc(slices.Clone(s.resources), func(old *Resource) bool {
		return old.id() == r.id()
	}), &r)
}

// RemoveResource removes a resource and its objects, as if its CustomResourceDefinition were deleted. Watches of the
// resource report the deletions and end cleanly. Later requests get 404. The name has the same format as the resource
// argument of [Server.Create]. RemoveResource ignores an unknown name.
func (s *Server) RemoveResource(name string) {
	res, ok := s.resource(name)
	if !ok {
		return
	}
	_, objects := s.state(res)
	for _, e := range objects {
		s.remove(res, e.Value.namespace, e.Value.name, "", 0) // fails only if the object is already gone
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resources = slices.DeleteFunc(slices.Clone(s.resources), func(r *Resource) bool { return r == res })
	s.wake()
}

func (s *Server) resource(id string) (*Resource, bool) {
	for _, r := range s.registered() {
		if r.id() == id {
			return r, true
		}
	}
	return nil, false
}

// registered returns all resources. Do not modify the returned slice.
func (s *Server) registered() []*Resource {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resources
}
