// Package discovery lists the resources of a server and finds them by name.
package discovery

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/nearest"
	"github.com/seed-6d2a410a/listwatch/lw"
	served "github.com/seed-6d2a410a/listwatch/lw/discovery"
)

// Resources contains a server's types, which users of lwcat call resources, in the server's order of preference.
type Resources struct{ *served.Types }

// Ask returns the server's resources. See [served.Discoverer.Discover].
func Ask(ctx context.Context, transport lw.Transport) (*Resources, error) {
	types, err := new(served.Discoverer).Discover(ctx, transport)
	return &Resources{types}, err
}

// Find returns the resource for a name in kubectl's syntax: pods, pod, Pod, po, deploy.apps, deployments.v1.apps.
// It ignores case. It also accepts the beginning of a group's name.
//
// If several resources match, Find uses kubectl's order of preference: plural names, then short names, then
// singular names and kinds. After that, it prefers the core group, and then the server's order. If no resource
// matches, the error suggests similar names.
func (all *Resources) Find(name string) (*served.TypeInfo, error) {
	word, rest, _ := strings.Cut(strings.ToLower(name), ".")
	// Each function interprets the part after the dot in a different way: as a version and a group, as a group, or as
	// the beginning of a group.
	for _, in := range []func(*served.TypeInfo) bool{
		func(r *served.TypeInfo) bool {
			return rest == "" || rest == strings.TrimSuffix(r.Version+"."+r.Group, ".")
		},
		func(r *served.TypeInfo) bool { return rest == r.Version+"." && r.Group == "" || rest == r.Group },
		func(r *served.TypeInfo) bool { return strings.HasPrefix(r.Group, rest) },
	} {
		for _, called := range []func(*served.TypeInfo) bool{
			func(r *served.TypeInfo) bool { return word == r.Resource },
			func(r *served.TypeInfo) bool { return slices.Contains(r.ShortNames, word) },
			func(r *served.TypeInfo) bool { return word == r.Singular || word == strings.ToLower(r.Kind) },
		} {
			for i := range all.All {
				r := &all.All[i]
				if !in(r) || !called(r) {
					continue
				}
				if !r.Watchable() {
					return nil, fmt.Errorf("%s cannot be watched: the server only supports %s", r, strings.Join(r.Verbs, ", "))
				}
				return r, nil
			}
		}
	}
	return nil, &UnknownError{Name: name, Nearest: all.nearest(word)}
}

// Category returns the watchable resources in a category such as all.
func (all *Resources) Category(name string) (types []*served.TypeInfo) {
	for _, r := range all.Names() {
		if slices.Contains(r.Categories, strings.ToLower(name)) {
			types = append(types, r.TypeInfo)
		}
	}
	return types
}

// UnknownError reports that the server has no resource with the given name.
type UnknownError struct {
	Name    string
	Nearest []string // similar names
}

func (e *UnknownError) Error() string {
	text := fmt.Sprintf("the server has no resource %q", e.Name)
	if len(e.Nearest) > 0 {
		text += "; did you mean " + strings.Join(e.Nearest, ", ") + "?"
	}
	return text
}

// nearest returns the names of resources that the user may have meant by word.
func (all *Resources) nearest(word string) (near []string) {
	meant := map[string]string{} // maps each similar name to its resource name
	var similar []string
	for _, r := range all.Names() {
		for _, name := range append([]string{r.Resource, r.Singular, strings.ToLower(r.Kind)}, r.ShortNames...) {
			if meant[name] == "" && len(name) > 2 { // two-letter names are similar to most words
				meant[name] = r.Name
				similar = append(similar, name)
			}
		}
	}
	for _, name := range nearest.Likely(word, similar) {
		if !slices.Contains(near, meant[name]) {
			near = append(near, meant[name])
		}
	}
	return near
}

// Named is a resource with the shortest name that [Resources.Find] accepts for it.
type Named struct {
	Name string
	*served.TypeInfo
}

// Names returns all watchable resources, each in the version that the server prefers.
func (all *Resources) Names() (names []Named) {
	plurals, known := map[string]bool{}, map[string]bool{}
	for i := range all.All {
		r := &all.All[i]
		name := r.Resource
		if plurals[r.Resource] { // another group has a resource with the same name
			name = r.String()
		}
		if r.Watchable() && !known[r.String()] {
			names = append(names, Named{name, r})
		}
		plurals[r.Resource], known[r.String()] = true, true
	}
	return names
}
