package lwtest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// route describes a request: its API verb and the resource or object in its path.
type route struct {
	verb      string // "list", "watch", "get", "create", "update", "patch", "delete", or "" for other paths
	group     string // "" for the core group, and for paths outside the API
	version   string
	resource  *Resource // nil if the resource is unknown
	plural    string    // plural name in the path
	namespace string
	name      string

	subresource string // "binding", or "" if the path names no subresource
}

// find returns the route for the path and method of a request. It supports these paths below /api/v1 and
// /apis/GROUP/VERSION:
//
//	/PLURAL[/NAME]
//	/namespaces/NAMESPACE/PLURAL[/NAME]
//	/namespaces/NAMESPACE/pods/NAME/binding
func (s *Server) find(r *http.Request) route {
	rt, rest, ok := splitGroup(r.URL.Path)
	if !ok {
		return route{}
	}
	if len(rest) >= 3 && rest[0] == "namespaces" && rest[2] != "status" && rest[2] != "finalize" {
		rt.namespace, rest = rest[1], rest[2:]
	}
	if len(rest) == 0 {
		return rt
	}
	rt.plural = rest[0]
	if len(rest) > 1 {
		rt.name = rest[1]
	}
	rt.verb = verb(r, rt.name)
	resources := s.registered()
	i := slices.IndexFunc(resources, func(res *Resource) bool {
		return res.Group == rt.group && res.Version == rt.version && res.Plural == rt.plural
	})
	if i < 0 || len(rest) > 3 || len(rest) == 3 && (rest[2] != binding || resources[i].id() != "pods") {
		return rt
	}
	if len(rest) == 3 {
		rt.subresource = binding
	}
	res := resources[i]
	if rt.namespace != "" && !res.Namespaced || rt.namespace == "" && res.Namespaced && rt.name != "" {
		return rt
	}
	rt.resource = res
	return rt
}

// splitGroup splits a path that begins with /api/VERSION or /apis/GROUP/VERSION. It returns a route with the group and
// the version, and the remaining segments of the path.
func splitGroup(path string) (rt route, rest []string, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 1:
		return route{version: parts[1]}, parts[2:], true
	case parts[0] == "apis" && len(parts) > 2:
		return route{group: parts[1], version: parts[2]}, parts[3:], true
	}
	return route{}, nil, false
}

func verb(r *http.Request, name string) string {
	switch r.Method {
	case http.MethodGet:
		switch {
		case name != "":
			return "get" // a GET of an object ignores the watch parameter
		case isOn(r.URL.Query(), "watch"):
			return "watch"
		}
		return "list"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		return "delete"
	}
	return strings.ToLower(r.Method)
}

// isOn reports whether a boolean parameter is set. As in kube-apiserver, any value except "0" and "false" counts as
// true.
func isOn(values url.Values, name string) bool {
	value := values.Get(name)
	return values.Has(name) && value != "0" && !strings.EqualFold(value, "false")
}

// serves reports whether the server has a resource in the group and, unless version is "", in that version.
func (s *Server) serves(group, version string) bool {
	return slices.ContainsFunc(s.registered(), func(res *Resource) bool {
		return res.Group == group && (version == "" || res.Version == version)
	})
}
