package discovery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/nearest"
)

// Find returns the resource for which a name stands that is written as for kubectl: pods, pod, Pod, po, deploy.apps,
// deployments.v1.apps. Where several have it, it is kubectl's choice: plural names go before short ones, and those before
// singular ones and kinds; the core group before others, and those in the server's order. Upper and lower case are the same.
//
// A group may be shortened to how it begins. The error says what the name may have been meant for.
func (all *Resources) Find(name string) (*Resource, error) {
	word, rest, _ := strings.Cut(strings.ToLower(name), ".")
	for _, in := range []func(*Resource) bool{
		func(r *Resource) bool { return rest == "" || rest == strings.TrimSuffix(r.Version+"."+r.Group, ".") },
		func(r *Resource) bool { return rest == r.Version+"." && r.Group == "" || rest == r.Group },
		func(r *Resource) bool { return strings.HasPrefix(r.Group, rest) },
	} {
		for _, called := range []func(*Resource) bool{
			func(r *Resource) bool { return word == r.Plural },
			func(r *Resource) bool { return slices.Contains(r.ShortNames, word) },
			func(r *Resource) bool { return word == r.Singular || word == strings.ToLower(r.Kind) },
		} {
			for i := range all.All {
				if r := &all.All[i]; in(r) && called(r) {
					return r, r.watchable()
				}
			}
		}
	}
	return nil, &UnknownError{Name: name, Nearest: all.nearest(word)}
}

func (r *Resource) watchable() error {
	if r.Watchable() {
		return nil
	}
	return fmt.Errorf("%s cannot be watched: the server offers to %s", r, strings.Join(r.Verbs, ", "))
}

// UnknownError says that a server has no resource of a name.
type UnknownError struct {
	Name    string
	Nearest []string // names that are similar
}

func (e *UnknownError) Error() string {
	text := fmt.Sprintf("the server has no resource %q", e.Name)
	if len(e.Nearest) > 0 {
		text += "; did you mean " + strings.Join(e.Nearest, ", ") + "?"
	}
	return text
}

// nearest returns names of resources whose plural or other names are similar to a word.
func (all *Resources) nearest(word string) (near []string) {
	meant := map[string]string{} // by what is similar
	var similar []string
	for _, r := range all.Names() {
		for _, name := range append([]string{r.Plural, r.Singular, strings.ToLower(r.Kind)}, r.ShortNames...) {
			if meant[name] == "" && len(name) > 2 { // every other word has a name of two letters in it
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

// Named is a resource under the shortest name by which Find finds it.
type Named struct {
	Name string
	*Resource
}

// Names returns all resources that can be watched in their group's preferred version, which is the one that Find finds.
func (all *Resources) Names() (names []Named) {
	plurals, full := map[string]bool{}, map[string]bool{}
	for i := range all.All {
		r := &all.All[i]
		taken := plurals[r.Plural] // by another group
		plurals[r.Plural] = true
		known := full[r.String()]
		full[r.String()] = true
		if known || !r.Watchable() {
			continue
		}
		name := r.Plural
		if taken {
			name = r.String()
		}
		names = append(names, Named{name, r})
	}
	return names
}
