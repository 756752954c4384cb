package discovery

import (
	"slices"
	"strings"
)

// document is what matters of an APIGroupDiscoveryList, an APIVersions or an APIGroupList.
type document struct {
	Kind     string            `json:"kind"`
	Items    []aggregatedGroup `json:"items"`    // of an APIGroupDiscoveryList
	Versions []string          `json:"versions"` // of an APIVersions
	Groups   []struct {        // of an APIGroupList
		Versions         []groupVersion `json:"versions"`
		PreferredVersion groupVersion   `json:"preferredVersion"`
	} `json:"groups"`
}

type aggregatedGroup struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Versions []struct {
		Version   string `json:"version"`
		Freshness string `json:"freshness"`
		Resources []struct {
			Resource     string   `json:"resource"`
			Singular     string   `json:"singularResource"`
			Scope        string   `json:"scope"`
			ShortNames   []string `json:"shortNames"`
			Verbs        []string `json:"verbs"`
			ResponseKind struct {
				Kind string `json:"kind"`
			} `json:"responseKind"`
		} `json:"resources"`
	} `json:"versions"`
}

type groupVersion struct {
	GroupVersion string `json:"groupVersion"`
}

// aggregated returns all resources. Of a version that is stale, as its server does not answer, those count that were known
// before.
func (d *document) aggregated() (a answer) {
	for _, group := range d.Items {
		for _, version := range group.Versions {
			if version.Freshness == "Stale" {
				a.missing = append(a.missing, group.Metadata.Name+"/"+version.Version+": it does not answer the API server")
			}
			for _, r := range version.Resources {
				a.resources = append(a.resources, Resource{
					Group: group.Metadata.Name, Version: version.Version, Plural: r.Resource, Singular: r.Singular,
					Kind: r.ResponseKind.Kind, ShortNames: r.ShortNames, Namespaced: r.Scope == "Namespaced", Verbs: r.Verbs,
				})
			}
		}
	}
	return a
}

// groupVersions returns "v1", or "apps/v1" and the like, of each group the preferred version first.
func (d *document) groupVersions() (all []string) {
	all = d.Versions
	for _, group := range d.Groups {
		if group.PreferredVersion.GroupVersion != "" {
			all = append(all, group.PreferredVersion.GroupVersion)
		}
		for _, version := range group.Versions {
			if !slices.Contains(all, version.GroupVersion) {
				all = append(all, version.GroupVersion)
			}
		}
	}
	return all
}

// resourceList is what matters of an APIResourceList.
type resourceList struct {
	Resources []struct {
		Name       string   `json:"name"` // of a subresource "pods/status"
		Singular   string   `json:"singularName"`
		Namespaced bool     `json:"namespaced"`
		Kind       string   `json:"kind"`
		ShortNames []string `json:"shortNames"`
		Verbs      []string `json:"verbs"`
	} `json:"resources"`
}

func (l *resourceList) of(group, version string) (all []Resource) {
	for _, r := range l.Resources {
		if strings.Contains(r.Name, "/") {
			continue
		}
		all = append(all, Resource{
			Group: group, Version: version, Plural: r.Name, Singular: r.Singular, Kind: r.Kind,
			ShortNames: r.ShortNames, Namespaced: r.Namespaced, Verbs: r.Verbs,
		})
	}
	return all
}
