// Package discovery lists the resources of a server and finds them by name.
package discovery

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/internal/nearest"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Resource describes a resource that the server offers.
type Resource struct {
	Group, Version string // for example "" and "v1", or "apps" and "v1"
	Plural         string // for example "deployments"
	Singular       string // for example "deployment"
	Kind           string // for example "Deployment"
	ShortNames     []string
	Namespaced     bool
	Verbs          []string // for example "list" and "watch"
}

// String returns the full name of the resource, for example "pods" or "deployments.apps".
func (r *Resource) String() string {
	return lw.Resource{Group: r.Group, Plural: r.Plural}.String()
}

// Watchable reports whether the resource can be listed and watched.
func (r *Resource) Watchable() bool {
	return slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "watch")
}

// Resources contains a server's resources in the server's order of preference. The core group comes first, and each
// group's preferred version comes before its other versions.
type Resources struct {
	All     []Resource
	Missing []string // group versions that could not be discovered, with the reason: "metrics.k8s.io/v1beta1: …"
}

// accept requests aggregated discovery, in the format of Kubernetes 1.30 or 1.26. Servers without aggregated
// discovery send a list of groups instead.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

// Ask returns the server's resources. It sends two concurrent requests. The field Missing lists the groups that could
// not be discovered. Ask returns an error if it finds no resources.
func Ask(ctx context.Context, transport lw.Transport) (*Resources, error) {
	roots := []string{"/api", "/apis"}
	found, errs := make([]Resources, len(roots)), make([]error, len(roots))
	var both sync.WaitGroup
	for i, root := range roots {
		both.Go(func() { found[i], errs[i] = fetch(ctx, transport, root) })
	}
	both.Wait()
	all := &Resources{}
	for i, root := range roots {
		all.All = append(all.All, found[i].All...)
		all.Missing = append(all.Missing, found[i].Missing...)
		if errs[i] != nil {
			errs[i] = fmt.Errorf("%s: %w", root, errs[i])
			all.Missing = append(all.Missing, errs[i].Error())
		}
	}
	if err := cmp.Or(errs...); err != nil && len(all.All) == 0 {
		return nil, fmt.Errorf("discovering the server's resources: %w", err)
	}
	return all, nil
}

// maxBytes limits the size of a discovery document. A server with a thousand custom resources sends about 0.5 MiB.
const maxBytes = 8 << 20

// ErrTooLarge reports that a document exceeds the limit.
var ErrTooLarge = errors.New("the discovery response is too large")

// fetch fetches the resources under /api or /apis. It works on the document's JSON text, because a malicious
// response could be fifty times as large when decoded into structs.
func fetch(ctx context.Context, transport lw.Transport, root string) (Resources, error) {
	body, err := transport.Open(ctx, &lw.Request{Path: root, Accept: accept})
	if err != nil {
		return Resources{}, err
	}
	defer body.Close()
	var text json.RawMessage
	limited := &io.LimitedReader{R: body, N: maxBytes}
	err = json.NewDecoder(limited).Decode(&text)
	if _, ok := errors.AsType[*json.SyntaxError](err); ok && limited.N > 0 {
		return Resources{}, fmt.Errorf("the response is not JSON; it may be a proxy's error page or a login page: %w", err)
	}
	if err != nil && limited.N == 0 {
		return Resources{}, ErrTooLarge
	}
	if err != nil {
		return Resources{}, err
	}
	document, err := lw.ParseValue(text)
	if err != nil {
		return Resources{}, err
	}
	switch kind := stringAt(document, "kind"); kind {
	case "APIGroupDiscoveryList":
		return aggregated(document), nil
	case "APIVersions", "APIGroupList":
		return Resources{}, errors.New("the server does not support aggregated discovery, which requires Kubernetes 1.27 or later: specify collections by path, for example /api/v1/pods")
	default:
		return Resources{}, fmt.Errorf("expected a discovery document, got kind %.40q", kind)
	}
}

// aggregated returns all resources in an APIGroupDiscoveryList. If a group version is stale, they are the last ones
// that the server knew.
func aggregated(document lw.Value) (found Resources) {
	for item := range document.Member("items").Elements() {
		group := stringAt(item, "metadata.name")
		for of := range item.Member("versions").Elements() {
			version := stringAt(of, "version")
			if stringAt(of, "freshness") == "Stale" {
				found.Missing = append(found.Missing, group+"/"+version+": the aggregated API server does not respond")
			}
			for r := range of.Member("resources").Elements() {
				if name := stringAt(r, "resource"); name != "" {
					found.All = append(found.All, Resource{
						Group: group, Version: version, Plural: name, Singular: stringAt(r, "singularResource"),
						Kind: stringAt(r, "responseKind.kind"), ShortNames: stringsAt(r, "shortNames"),
						Namespaced: stringAt(r, "scope") == "Namespaced", Verbs: stringsAt(r, "verbs"),
					})
				}
			}
		}
	}
	return found
}

// stringAt returns the string at a path, or "" for values of other types.
func stringAt(v lw.Value, path string) string {
	if v = v.Get(path); !strings.HasPrefix(v.Raw(), `"`) {
		return ""
	}
	return v.String()
}

func stringsAt(v lw.Value, name string) (all []string) {
	for element := range v.Member(name).Elements() {
		all = append(all, stringAt(element, ""))
	}
	return all
}

// Find returns the resource for a name in kubectl's syntax: pods, pod, Pod, po, deploy.apps, deployments.v1.apps.
// It ignores case. It also accepts the beginning of a group's name.
//
// If several resources match, Find uses kubectl's order of preference: plural names, then short names, then
// singular names and kinds. After that, it prefers the core group, and then the server's order. If no resource
// matches, the error suggests similar names.
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

// nearest returns the resources whose names are similar to word.
func (all *Resources) nearest(word string) (near []string) {
	meant := map[string]string{} // maps each similar name to its resource name
	var similar []string
	for _, r := range all.Names() {
		for _, name := range append([]string{r.Plural, r.Singular, strings.ToLower(r.Kind)}, r.ShortNames...) {
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
	*Resource
}

// Names returns all watchable resources in the preferred version of their group.
func (all *Resources) Names() (names []Named) {
	plurals, known := map[string]bool{}, map[string]bool{}
	for i := range all.All {
		r := &all.All[i]
		name := r.Plural
		if plurals[r.Plural] { // another group has a resource with the same name
			name = r.String()
		}
		if r.Watchable() && !known[r.String()] {
			names = append(names, Named{name, r})
		}
		plurals[r.Plural], known[r.String()] = true, true
	}
	return names
}
