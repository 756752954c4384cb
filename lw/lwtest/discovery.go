package lwtest

import (
	"crypto/sha512"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
)

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
	case parts[0] == "apis" && len(parts) == 2 && s.serves(parts[1], ""):
		group := s.group(parts[1])
		group["kind"], group["apiVersion"] = "APIGroup", "v1"
		send(w, r, http.StatusOK, encodeOrdered(group, []string{"kind", "apiVersion", "name"}))
	case parts[0] == "api" && len(parts) == 2 && s.serves("", parts[1]):
		send(w, r, http.StatusOK, s.resourceList("", parts[1]))
	case parts[0] == "apis" && len(parts) == 3 && s.serves(parts[1], parts[2]):
		send(w, r, http.StatusOK, s.resourceList(parts[1], parts[2]))
	case parts[0] == "openapi":
		fail(w, r, noResource()) // the server has no OpenAPI schema, and clients work without a schema
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

// wantsAggregated reports whether the first acceptable media type in Accept is aggregated discovery.
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
	for _, res := range s.registered() {
		if res.Group != group || res.Version != version {
			continue
		}
		scope := "Cluster"
		if res.Namespaced {
			scope = "Namespaced"
		}
		entry := fields{
			"resource": res.Plural, "scope": scope, "singularResource": res.singular(), "verbs": verbs,
			"responseKind": fields{"group": group, "version": version, "kind": res.Kind},
		}
		if len(res.ShortNames) > 0 {
			entry["shortNames"] = res.ShortNames
		}
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
	for _, res := range s.registered() {
		if res.Group != group || res.Version != version {
			continue
		}
		entry := fields{
			"name": res.Plural, "singularName": res.singular(), "namespaced": res.Namespaced, "kind": res.Kind, "verbs": verbs,
		}
		if len(res.ShortNames) > 0 {
			entry["shortNames"] = res.ShortNames
		}
		list = append(list, entry)
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
	var names []string
	for _, res := range s.registered() {
		if (res.Group == "") == core && !slices.Contains(names, res.Group) {
			names = append(names, res.Group)
		}
	}
	return names
}

func (s *Server) versions(group string) []string {
	var list []string
	for _, res := range s.registered() {
		if res.Group == group && !slices.Contains(list, res.Version) {
			list = append(list, res.Version)
		}
	}
	return list
}
