package discovery

import (
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// document is an APIGroupDiscoveryList or a part of it. It keeps the JSON text, because decoded structs could be fifty
// times as large as a malicious response.
type document lw.Value

func (d document) string(path string) string { return stringOf(lw.Value(d).Get(path)) }

// stringOf returns the decoded string, or "" for values of other types.
func stringOf(v lw.Value) string {
	if !strings.HasPrefix(v.Raw(), `"`) {
		return ""
	}
	return v.String()
}

func (d document) strings(name string) (all []string) {
	for element := range lw.Value(d).Member(name).Elements() {
		all = append(all, stringOf(element))
	}
	return all
}

func (d document) each(name string, visit func(document)) {
	for element := range lw.Value(d).Member(name).Elements() {
		visit(document(element))
	}
}

// aggregated returns all resources in an aggregated discovery document. For a stale group version, these are the last
// resources that the server knew.
func (d document) aggregated() (a response) {
	d.each("items", func(of document) {
		group := of.string("metadata.name")
		of.each("versions", func(of document) {
			version := of.string("version")
			if of.string("freshness") == "Stale" {
				a.missing = append(a.missing, group+"/"+version+": the aggregated API server does not respond")
			}
			of.each("resources", func(r document) {
				if name := r.string("resource"); name != "" {
					a.resources = append(a.resources, Resource{
						Group: group, Version: version, Plural: name, Singular: r.string("singularResource"),
						Kind: r.string("responseKind.kind"), ShortNames: r.strings("shortNames"),
						Namespaced: r.string("scope") == "Namespaced", Verbs: r.strings("verbs"),
					})
				}
			})
		})
	})
	return a
}
