package lwtest

import (
	"cmp"
	"crypto/sha512"
	"fmt"
	"mime"
	"net/http"
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

// key returns an object's key in the log. All keys in a namespace share a prefix.
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

// aggregated is the media type of aggregated discovery.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

var verbs = []string{"create", "delete", "get", "list", "patch", "update", "watch"}

// serveOther serves discovery, the version and the health checks.
func (s *Server) serveOther(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		fail(w, r, methodNotAllowed())
		return
	}
	path := strings.TrimSuffix(r.URL.Path, "/")
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	switch {
	case path == "/readyz", path == "/livez", path == "/healthz":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprint(w, "ok")
	case path == "/version":
		send(w, r, http.StatusOK, marshal(version()))
	case path == "/api", path == "/apis":
		s.serveGroups(w, r, path == "/api")
	case parts[0] == "apis" && len(parts) == 2 && s.versions(parts[1]) != nil:
		group := s.group(parts[1])
		group["kind"], group["apiVersion"] = "APIGroup", "v1"
		send(w, r, http.StatusOK, encodeOrdered(group, []string{"kind", "apiVersion", "name"}))
	case parts[0] == "api" && len(parts) == 2 && slices.Contains(s.versions(""), parts[1]):
		send(w, r, http.StatusOK, s.resourceList("", parts[1]))
	case parts[0] == "apis" && len(parts) == 3 && slices.Contains(s.versions(parts[1]), parts[2]):
		send(w, r, http.StatusOK, s.resourceList(parts[1], parts[2]))
	case parts[0] == "openapi":
		fail(w, r, noResource()) // clients also work without an OpenAPI schema
	default:
		http.Error(w, "404 page not found", http.StatusNotFound)
	}
}

func version() fields {
	return fields{
		"major": "1", "minor": "36", "gitVersion": "v1.36.3-lwtest", "gitCommit": "", "gitTreeState": "clean",
		"buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "gc", "platform": "",
	}
}

// serveGroups serves /api for the core group and /apis for all other groups, in the format that Accept selects.
func (s *Server) serveGroups(w http.ResponseWriter, r *http.Request, core bool) {
	w.Header().Set("Vary", "Accept")
	groups := s.groups(core)
	switch {
	case wantsAggregated(r):
		s.serveAggregated(w, r, groups)
	case core:
		send(w, r, http.StatusOK, encodeOrdered(fields{
			"kind": "APIVersions", "versions": s.versions(""),
			"serverAddressByClientCIDRs": []fields{{"clientCIDR": "0.0.0.0/0", "serverAddress": s.addr}},
		}, []string{"kind", "versions"}))
	default:
		list := []fields{}
		for _, group := range groups {
			list = append(list, s.group(group))
		}
		send(w, r, http.StatusOK, encodeOrdered(fields{"kind": "APIGroupList", "apiVersion": "v1", "groups": list}, []string{"kind", "apiVersion"}))
	}
}

// wantsAggregated reports whether the first supported media type in Accept is that of aggregated discovery.
func wantsAggregated(r *http.Request) bool {
	for clause := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		media, params, err := mime.ParseMediaType(clause)
		if err != nil || media != "application/json" {
			continue
		}
		if params["as"] == "" {
			return false
		}
		if params["as"] == "APIGroupDiscoveryList" && params["g"] == "apidiscovery.k8s.io" && params["v"] == "v2" {
			return true
		}
	}
	return false
}

func (s *Server) serveAggregated(w http.ResponseWriter, r *http.Request, groups []string) {
	items := []fields{}
	for _, group := range groups {
		versions := []fields{}
		for _, v := range s.versions(group) {
			versions = append(versions, fields{"version": v, "resources": s.aggregate(group, v), "freshness": "Current"})
		}
		meta := fields{}
		if group != "" {
			meta["name"] = group
		}
		items = append(items, fields{"metadata": meta, "versions": versions})
	}
	body := encodeOrdered(fields{
		"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": fields{}, "items": items,
	}, []string{"kind", "apiVersion", "metadata"})
	etag := fmt.Sprintf(`"%X"`, sha512.Sum512(body))
	w.Header().Set("Cache-Control", "public")
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", aggregated)
	w.Write(append(body, '\n'))
}

func (s *Server) aggregate(group, version string) []fields {
	list := []fields{}
	for _, res := range s.resourcesOf(group, version) {
		scope := "Cluster"
		if res.Namespaced {
			scope = "Namespaced"
		}
		entry := res.entry(fields{
			"resource": res.Plural, "scope": scope, "singularResource": res.singular(),
			"responseKind": fields{"group": group, "version": version, "kind": res.Kind},
		})
		if res.id() == "pods" {
			entry["subresources"] = []fields{{
				"subresource": binding, "verbs": []string{"create"},
				"responseKind": fields{"group": "", "version": "v1", "kind": "Binding"},
			}}
		}
		list = append(list, entry)
	}
	return list
}

func (s *Server) resourceList(group, version string) []byte {
	list := []fields{}
	for _, res := range s.resourcesOf(group, version) {
		list = append(list, res.entry(fields{
			"name": res.Plural, "singularName": res.singular(), "namespaced": res.Namespaced, "kind": res.Kind,
		}))
		if res.id() == "pods" {
			list = append(list, fields{
				"name": res.Plural + "/" + binding, "singularName": "", "namespaced": true, "kind": "Binding", "verbs": []string{"create"},
			})
		}
	}
	return encodeOrdered(fields{
		"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": groupVersion(group, version), "resources": list,
	}, []string{"kind", "apiVersion", "groupVersion"})
}

// entry adds the fields that both discovery formats share.
func (r *Resource) entry(f fields) fields {
	f["verbs"] = verbs
	if len(r.ShortNames) > 0 {
		f["shortNames"] = r.ShortNames
	}
	return f
}

func (s *Server) resourcesOf(group, version string) []*Resource {
	return slices.DeleteFunc(slices.Clone(s.registered()), func(r *Resource) bool { return r.Group != group || r.Version != version })
}

// group returns an APIGroup object, for clients that do not support aggregated discovery.
func (s *Server) group(name string) fields {
	var versions []fields
	for _, v := range s.versions(name) {
		versions = append(versions, fields{"groupVersion": groupVersion(name, v), "version": v})
	}
	return fields{"name": name, "versions": versions, "preferredVersion": versions[0]}
}

// groups returns the name of the core group if core is set, and otherwise the names of all other groups.
func (s *Server) groups(core bool) []string {
	return s.distinct(func(r *Resource) (string, bool) { return r.Group, (r.Group == "") == core })
}

func (s *Server) versions(group string) []string {
	return s.distinct(func(r *Resource) (string, bool) { return r.Version, r.Group == group })
}

// distinct calls name for each resource and returns the distinct names that name selects, in the order of the
// resources.
func (s *Server) distinct(name func(*Resource) (name string, selected bool)) (names []string) {
	for _, res := range s.registered() {
		if name, selected := name(res); selected && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
