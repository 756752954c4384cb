package lwtest

import (
	"cmp"
	"slices"
	"strings"
)

// Resource is a kind of object that the server serves.
type Resource struct {
	Group      string // "" for the core group
	Version    string // default "v1"
	Kind       string // "Widget"
	Plural     string // "widgets", as in the path
	Singular   string // default: the kind in lower case
	ShortNames []string
	Namespaced bool
	Columns    []Column // of Tables, behind the name; default: Age

	builtin    bool // metadata first, and items of lists without kind and apiVersion
	generation bool // metadata.generation counts changes outside metadata and status
}

// builtins are the resources every server has. The custom one stands last.
func builtins() []Resource {
	core := func(kind, plural string, namespaced bool, short ...string) Resource {
		return Resource{Kind: kind, Plural: plural, Namespaced: namespaced, ShortNames: short, builtin: true}
	}
	pods := core("Pod", "pods", true, "po")
	pods.generation = true
	pods.Columns = append([]Column{{Name: "Status", Path: ".status.phase"}}, ageColumn...)
	deployments := core("Deployment", "deployments", true, "deploy")
	deployments.Group, deployments.generation = "apps", true
	return []Resource{
		core("ConfigMap", "configmaps", true, "cm"),
		core("Event", "events", true, "ev"),
		core("Namespace", "namespaces", false, "ns"),
		core("Node", "nodes", false, "no"),
		pods,
		core("Secret", "secrets", true),
		core("Service", "services", true, "svc"),
		deployments,
		{Group: "lw.example.com", Kind: "Widget", Plural: "widgets", ShortNames: []string{"wd"}, Namespaced: true, generation: true},
	}
}

func (r *Resource) setDefaults() {
	r.Version = cmp.Or(r.Version, "v1")
	r.Singular = cmp.Or(r.Singular, strings.ToLower(r.Kind))
}

// id names the resource as kubectl does: "pods", "deployments.apps".
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

// key is where an object is stored; a namespace's objects share a prefix.
func (r *Resource) key(namespace, name string) string {
	if !r.Namespaced {
		return name
	}
	return namespace + "/" + name
}

// AddResource makes the server serve a custom resource from now on, like creating a CustomResourceDefinition does. Its lists
// put items before metadata and its items carry kind and apiVersion. A resource of the same name is replaced; its objects
// stay.
func (s *Server) AddResource(r Resource) {
	r.setDefaults()
	r.generation = true
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resources = append(slices.DeleteFunc(slices.Clone(s.resources), func(old *Resource) bool {
		return old.id() == r.id()
	}), &r)
}

// RemoveResource stops serving a resource, named as in [Server.Create], like deleting its CustomResourceDefinition does: its
// objects are deleted, watches of them see that and end cleanly, and its paths are not found any more. An unknown resource
// is ignored.
func (s *Server) RemoveResource(name string) {
	res, ok := s.resource(name)
	if !ok {
		return
	}
	_, objects := s.state(res)
	for _, e := range objects {
		s.remove(res, e.Value.namespace, e.Value.name, "", 0) // gone is gone, whoever was first
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resources = slices.DeleteFunc(slices.Clone(s.resources), func(r *Resource) bool { return r == res })
	s.wake()
}

// resource finds a resource by the name that Resource.id gives.
func (s *Server) resource(id string) (*Resource, bool) {
	for _, r := range s.registered() {
		if r.id() == id {
			return r, true
		}
	}
	return nil, false
}

// registered is all resources; the slice is never changed, only replaced.
func (s *Server) registered() []*Resource {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resources
}
