package discovery

import (
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// document is an APIGroupDiscoveryList, an APIVersions, an APIGroupList or an APIResourceList, or a part of such a
// document. It refers to the JSON text because structs can be fifty times as large as a malicious response.
type document lw.Value

func (d document) string(path string) string { return stringOf(lw.Value(d).Get(path)) }

// stringOf returns the content of a JSON string, or "" for other values.
func stringOf(v lw.Value) string {
	if v == "" || v[0] != '"' {
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

// aggregated returns all resources of an aggregated document. For a stale group version, these are the last resources
// that the server knew.
func (d document) aggregated() (a response) {
	d.each("items", func(of document) {
		group := of.string("metadata.name")
		of.each("versions", func(of document) {
			version := of.string("version")
			if of.string("freshness") == "Stale" {
				a.missing = append(a.missing, group+"/"+version+": its server does not respond")
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

// groupVersions returns the versions such as "v1" or "apps/v1". The preferred version of each group comes first.
func (d document) groupVersions() (all []string, err error) {
	seen := map[string]bool{}
	add := func(groupVersion string) {
		if len(all) == maxGroupVersions {
			err = ErrTooLarge
		} else if groupVersion != "" && !seen[groupVersion] {
			seen[groupVersion] = true
			all = append(all, groupVersion)
		}
	}
	for _, version := range d.strings("versions") {
		add(version)
	}
	d.each("groups", func(group document) {
		add(group.string("preferredVersion.groupVersion"))
		group.each("versions", func(version document) { add(version.string("groupVersion")) })
	})
	return all, err
}

// resources returns the resources of an APIResourceList without their subresources.
func (d document) resources(group, version string) (all []Resource) {
	d.each("resources", func(r document) {
		name := r.string("name") // subresources have names such as "pods/status"
		if name == "" || strings.Contains(name, "/") {
			return
		}
		all = append(all, Resource{
			Group: group, Version: version, Plural: name, Singular: r.string("singularName"), Kind: r.string("kind"),
			ShortNames: r.strings("shortNames"), Namespaced: lw.Value(r).Member("namespaced").Bool(), Verbs: r.strings("verbs"),
		})
	})
	return all
}
