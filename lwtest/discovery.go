package lwtest

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// resource describes a Kubernetes resource: its names, its scope, and how the server encodes its objects.
type resource struct {
	group      string // "" for the core group
	version    string
	kind       string // for example "Widget"
	plural     string // for example "widgets"
	shortNames []string
	namespaced bool
	columns    []column // Table columns after the name

	builtin    bool // whether objects are encoded like those of a built-in type: metadata comes first, and list items omit kind and apiVersion
	generation bool // whether metadata.generation counts the changes outside metadata and status
}

// definitions is the id of the resource whose objects define custom resources.
const definitions = "customresourcedefinitions.apiextensions.k8s.io"

// builtins returns the resources of a new server. Widget is a custom resource that needs no CustomResourceDefinition.
func builtins() []*resource {
	core := func(kind, plural string, namespaced bool, short ...string) *resource {
		return &resource{version: "v1", kind: kind, plural: plural, namespaced: namespaced, shortNames: short, columns: ageColumn, builtin: true}
	}
	pods := core("Pod", "pods", true, "po")
	pods.generation = true
	pods.columns = append([]column{{Name: "Status", JSONPath: ".status.phase"}}, ageColumn...)
	deployments := core("Deployment", "deployments", true, "deploy")
	deployments.group, deployments.generation = "apps", true
	crds := core("CustomResourceDefinition", "customresourcedefinitions", false, "crd", "crds")
	crds.group, crds.generation = "apiextensions.k8s.io", true
	return []*resource{
		core("ConfigMap", "configmaps", true, "cm"),
		core("Event", "events", true, "ev"),
		core("Namespace", "namespaces", false, "ns"),
		core("Node", "nodes", false, "no"),
		pods,
		core("Secret", "secrets", true),
		core("Service", "services", true, "svc"),
		deployments,
		crds,
		{group: "lw.example.com", version: "v1", kind: "Widget", plural: "widgets", shortNames: []string{"wd"}, namespaced: true, columns: ageColumn, generation: true},
	}
}

func (r *resource) singular() string { return strings.ToLower(r.kind) }

// id returns a name such as "pods" or "deployments.apps".
func (r *resource) id() string {
	if r.group == "" {
		return r.plural
	}
	return r.plural + "." + r.group
}

func (r *resource) apiVersion() string { return groupVersion(r.group, r.version) }

func groupVersion(group, version string) string {
	if group == "" {
		return version
	}
	return group + "/" + version
}

// key returns an object's key in the log. All keys in a namespace have the same prefix, so that a list can read only
// one namespace.
func (r *resource) key(namespace, name string) string {
	if !r.namespaced {
		return name
	}
	return namespace + "/" + name
}

// definedBy returns the resource that a CustomResourceDefinition defines, in its storage version.
func definedBy(crd *object) (*resource, error) {
	var definition struct {
		Spec struct {
			Group, Scope string
			Names        struct {
				Plural, Kind string
				ShortNames   []string
			}
			Versions []struct {
				Name                     string
				Storage                  bool
				AdditionalPrinterColumns []column
			}
		}
	}
	if err := json.Unmarshal(crd.item, &definition); err != nil {
		return nil, err
	}
	spec := definition.Spec
	r := &resource{group: spec.Group, kind: spec.Names.Kind, plural: spec.Names.Plural, shortNames: spec.Names.ShortNames, namespaced: spec.Scope == "Namespaced"}
	for _, v := range spec.Versions {
		if v.Storage {
			r.version, r.columns = v.Name, v.AdditionalPrinterColumns
		}
	}
	switch {
	case crd.name != r.id():
		return nil, fmt.Errorf(`metadata.name must be spec.names.plural+"."+spec.group`)
	case r.kind == "" || r.version == "":
		return nil, fmt.Errorf("spec.names.kind and a version with storage: true are required")
	}
	return r, nil
}

// define adds a custom resource, or replaces the resource with the same name and ends its watches. If the old and the
// new resource are equal, define does nothing. For example, a new label on a definition must not end watches. The
// caller must hold s.mu.
func (s *Server) define(r *resource) {
	r.generation = true
	if len(r.columns) == 0 {
		r.columns = ageColumn
	}
	if !slices.ContainsFunc(s.resources, func(old *resource) bool { return reflect.DeepEqual(old, r) }) {
		s.resources = append(s.without(r), r)
	}
}

// undefine removes a resource and its objects. Its watches report the deletions and end. The caller must hold s.mu.
func (s *Server) undefine(r *resource) {
	entries, _ := s.log.At(r.id(), "", s.log.Revision()) // At cannot fail for the latest revision
	for _, e := range entries {
		s.log.Delete(r.id(), e.Key, e.Value.withVersion(r, s.log.Revision()+1))
	}
	s.resources = s.without(r)
}

// without returns all resources except the resource with the same name as r. The caller must hold s.mu.
func (s *Server) without(r *resource) []*resource {
	return slices.DeleteFunc(slices.Clone(s.resources), func(old *resource) bool { return old.id() == r.id() })
}

// resource returns the resource with this id. It returns a NotFound error if the server does not serve it.
func (s *Server) resource(id string) (*resource, error) {
	for _, r := range s.registered() {
		if r.id() == id {
			return r, nil
		}
	}
	return nil, newError(http.StatusNotFound, "NotFound", "the server does not have a resource %q", id)
}

// registered returns all resources. Do not modify the returned slice.
func (s *Server) registered() []*resource {
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
		fail(w, r, noResource()) // the server has no OpenAPI schema, and clients also work without one
	default:
		http.Error(w, "404 page not found", http.StatusNotFound)
	}
}

func version() fields {
	return fields{
		"major": "1", "minor": "37", "gitVersion": "v1.37.2-lwtest", "gitCommit": "", "gitTreeState": "clean",
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

// wantsAggregated reports whether the client prefers aggregated discovery. Of the media types in Accept, the first that
// the server supports decides.
func wantsAggregated(r *http.Request) bool {
	for media := range accepted(r) {
		if media["as"] == "" {
			return false
		}
		if media["as"] == "APIGroupDiscoveryList" && media["g"] == "apidiscovery.k8s.io" && media["v"] == "v2" {
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
		if res.namespaced {
			scope = "Namespaced"
		}
		entry := res.entry(fields{
			"resource": res.plural, "scope": scope, "singularResource": res.singular(),
			"responseKind": fields{"group": group, "version": version, "kind": res.kind},
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
			"name": res.plural, "singularName": res.singular(), "namespaced": res.namespaced, "kind": res.kind,
		}))
		if res.id() == "pods" {
			list = append(list, fields{
				"name": res.plural + "/" + binding, "singularName": "", "namespaced": true, "kind": "Binding", "verbs": []string{"create"},
			})
		}
	}
	return encodeOrdered(fields{
		"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": groupVersion(group, version), "resources": list,
	}, []string{"kind", "apiVersion", "groupVersion"})
}

// entry adds the fields that both discovery formats share to f, and returns f.
func (r *resource) entry(f fields) fields {
	f["verbs"] = verbs
	if len(r.shortNames) > 0 {
		f["shortNames"] = r.shortNames
	}
	if r.builtin && slices.Contains([]string{"pods", "services", "deployments"}, r.plural) {
		f["categories"] = []string{"all"}
	}
	return f
}

func (s *Server) resourcesOf(group, version string) []*resource {
	return slices.DeleteFunc(slices.Clone(s.registered()), func(r *resource) bool { return r.group != group || r.version != version })
}

// group returns an APIGroup object, for clients that do not support aggregated discovery.
func (s *Server) group(name string) fields {
	var versions []fields
	for _, v := range s.versions(name) {
		versions = append(versions, fields{"groupVersion": groupVersion(name, v), "version": v})
	}
	return fields{"name": name, "versions": versions, "preferredVersion": append(versions, fields{})[0]} // a concurrent deletion may have removed the last version
}

// groups returns the names of all groups except the core group. If core is set, it returns only the core group, whose
// name is empty.
func (s *Server) groups(core bool) (groups []string) {
	for _, res := range s.registered() {
		if (res.group == "") == core && !slices.Contains(groups, res.group) {
			groups = append(groups, res.group)
		}
	}
	return groups
}

func (s *Server) versions(group string) (versions []string) {
	for _, res := range s.registered() {
		if res.group == group && !slices.Contains(versions, res.version) {
			versions = append(versions, res.version)
		}
	}
	return versions
}
