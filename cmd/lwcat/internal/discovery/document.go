package discovery

import (
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// document is an APIGroupDiscoveryList, an APIVersions, an APIGroupList or an APIResourceList, or a part of one. It is read
// where it stands: structs would be fifty times as large as what a server that wants so can say of them.
type document lw.Value

func (d document) text(path string) string { return textOf(lw.Value(d).Get(path)) }

// textOf is a string's content; "" for what is none.
func textOf(v lw.Value) string {
	if v == "" || v[0] != '"' {
		return ""
	}
	return v.String()
}

func (d document) texts(name string) (all []string) {
	for element := range lw.Value(d).Member(name).Elements() {
		all = append(all, textOf(element))
	}
	return all
}

func (d document) each(name string, visit func(document)) {
	for element := range lw.Value(d).Member(name).Elements() {
		visit(document(element))
	}
}

// aggregated returns all resources. Of a version that is stale, as its server does not answer, those count that were known
// before.
func (d document) aggregated() (a answer) {
	d.each("items", func(of document) {
		group := of.text("metadata.name")
		of.each("versions", func(of document) {
			version := of.text("version")
			if of.text("freshness") == "Stale" {
				a.missing = append(a.missing, group+"/"+version+": it does not answer the API server")
			}
			of.each("resources", func(r document) {
				if name := r.text("resource"); name != "" {
					a.resources = append(a.resources, Resource{
						Group: group, Version: version, Plural: name, Singular: r.text("singularResource"),
						Kind: r.text("responseKind.kind"), ShortNames: r.texts("shortNames"),
						Namespaced: r.text("scope") == "Namespaced", Verbs: r.texts("verbs"),
					})
				}
			})
		})
	})
	return a
}

// groupVersions returns "v1", or "apps/v1" and the like, of each group the preferred version first.
func (d document) groupVersions() (all []string, err error) {
	seen := map[string]bool{}
	add := func(groupVersion string) {
		if len(all) == mostGroupVersions {
			err = ErrTooLarge
		} else if groupVersion != "" && !seen[groupVersion] {
			seen[groupVersion] = true
			all = append(all, groupVersion)
		}
	}
	for _, version := range d.texts("versions") {
		add(version)
	}
	d.each("groups", func(group document) {
		add(group.text("preferredVersion.groupVersion"))
		group.each("versions", func(version document) { add(version.text("groupVersion")) })
	})
	return all, err
}

// resources returns those of an APIResourceList.
func (d document) resources(group, version string) (all []Resource) {
	d.each("resources", func(r document) {
		name := r.text("name") // of a subresource "pods/status"
		if name == "" || strings.Contains(name, "/") {
			return
		}
		all = append(all, Resource{
			Group: group, Version: version, Plural: name, Singular: r.text("singularName"), Kind: r.text("kind"),
			ShortNames: r.texts("shortNames"), Namespaced: lw.Value(r).Member("namespaced").Bool(), Verbs: r.texts("verbs"),
		})
	})
	return all
}
