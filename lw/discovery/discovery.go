// Package discovery asks a server for its resource types. It uses aggregated discovery, which needs only two requests
// for all types: https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
package discovery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Type identifies a resource type on a server. It has no version, because all versions of a type contain the same
// objects.
type Type struct {
	Group    string // for example "apps", or "" for the core group
	Resource string // for example "deployments"
}

// String returns the name of the type as in kubectl, for example "pods" or "deployments.apps".
func (t Type) String() string { return lw.Resource{Group: t.Group, Plural: t.Resource}.String() }

// TypeInfo describes a type in one version.
type TypeInfo struct {
	Type
	Version    string // for example "v1"
	Kind       string // for example "Deployment"
	Namespaced bool
	Singular   string   // for example "deployment"
	ShortNames []string // for example "deploy"
	Categories []string // for example "all"
	Verbs      []string // for example "list" and "watch"
}

// Watchable reports whether the type can be listed and watched.
func (t *TypeInfo) Watchable() bool {
	return slices.Contains(t.Verbs, "list") && slices.Contains(t.Verbs, "watch")
}

// Types contains the types of a server in the server's order of preference. The core group comes first. The preferred
// version of each group comes before its other versions.
type Types struct {
	All []TypeInfo
	// Missing maps the group versions that could not be discovered, such as "metrics.k8s.io/v1beta1", to their errors.
	// The keys "/api" and "/apis" stand for the core group and for all other groups.
	Missing map[string]error
}

// Discoverer discovers the types of one server. It remembers the last responses, so that the server can omit a document
// that has not changed since then. The zero value is ready to use. It must not be used concurrently.
type Discoverer struct {
	documents [2]document // one for each of roots
}

// document contains the response to one discovery request.
type document struct {
	etag    string           // sent with the next request, so that the server sends only changed documents
	all     []TypeInfo       // see Types.All
	missing map[string]error // see Types.Missing
}

// roots are the discovery paths for the core group and for all other groups. The core group is first in Types.All.
var roots = [2]string{"/api", "/apis"}

// Discover returns the types of the server behind transport. It sends two concurrent requests for aggregated discovery,
// which requires Kubernetes 1.27 or later. If only some groups could not be discovered, it returns the others and sets
// Missing. It returns an error if a request failed and there are no types to return.
func (d *Discoverer) Discover(ctx context.Context, transport lw.Transport) (*Types, error) {
	var errs [2]error
	var both sync.WaitGroup
	for i, root := range roots {
		both.Go(func() { errs[i] = d.documents[i].fetch(ctx, transport, root) })
	}
	both.Wait()
	types := &Types{Missing: map[string]error{}}
	for i, root := range roots {
		if errs[i] != nil {
			types.Missing[root] = fmt.Errorf("%s: %w", root, errs[i])
			continue
		}
		types.All = append(types.All, d.documents[i].all...)
		for name, err := range d.documents[i].missing {
			types.Missing[name] = err
		}
	}
	if len(types.All) == 0 {
		if err := errors.Join(types.Missing[roots[0]], types.Missing[roots[1]]); err != nil {
			return nil, fmt.Errorf("discovering the server's resources: %w", err)
		}
	}
	return types, nil
}

// accept requests aggregated discovery, preferably in the format of Kubernetes 1.30, otherwise in the format of
// Kubernetes 1.26, which is enabled by default since 1.27. Servers without aggregated discovery send a list of groups,
// which fetch reports as an error. See
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

// maxDocument limits the size of a document in bytes, because a hostile server could send an endless one. A server with a
// thousand custom resources sends about 0.5 MiB.
const maxDocument = 8 << 20

// ErrTooLarge means that a discovery document exceeds 8 MiB.
var ErrTooLarge = errors.New("the discovery response is too large")

// fetch requests the document, and replaces it if it has changed on the server. After an error, the document keeps its
// old content and ETag.
func (d *document) fetch(ctx context.Context, transport lw.Transport, root string) error {
	body, err := transport.Open(ctx, &lw.Request{Path: root, Accept: accept, IfNoneMatch: d.etag})
	if errors.Is(err, lw.ErrNotModified) {
		return nil
	}
	if err != nil {
		return err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxDocument+1)) // one more byte shows that the document is too large
	if err != nil {
		return err
	}
	if len(text) > maxDocument {
		return ErrTooLarge
	}
	parsed, err := lw.ParseValue(text)
	if errors.Is(err, io.ErrUnexpectedEOF) { // the connection broke, so the error below would be misleading
		return io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("the response is not JSON; it may be a proxy's error page or a login page: %w", err)
	}
	switch kind := stringAt(parsed, "kind"); kind {
	case "APIGroupDiscoveryList":
		*d = document{etag: body.ETag, missing: map[string]error{}}
		d.read(parsed)
		return nil
	case "APIVersions", "APIGroupList":
		return errors.New("the server does not support aggregated discovery, which requires Kubernetes 1.27 or later: specify collections by path, for example /api/v1/pods")
	default:
		return fmt.Errorf("expected a discovery document, got kind %.40q", kind)
	}
}

// read reads all types in an APIGroupDiscoveryList. If a group version is stale, for example because its aggregated
// server is down, the list contains the types that the server last knew. read keeps these types in d.all, and records
// in d.missing that they may be outdated.
func (d *document) read(list lw.Value) {
	for item := range list.Member("items").Elements() {
		group := stringAt(item, "metadata.name")
		for in := range item.Member("versions").Elements() {
			version := stringAt(in, "version")
			if stringAt(in, "freshness") == "Stale" {
				name := group + "/" + version
				d.missing[name] = errors.New(name + ": the aggregated API server does not respond")
			}
			for r := range in.Member("resources").Elements() {
				if name := stringAt(r, "resource"); name != "" {
					d.all = append(d.all, TypeInfo{
						Type: Type{group, name}, Version: version, Kind: stringAt(r, "responseKind.kind"),
						Namespaced: stringAt(r, "scope") == "Namespaced", Singular: stringAt(r, "singularResource"),
						ShortNames: stringsAt(r, "shortNames"), Categories: stringsAt(r, "categories"), Verbs: stringsAt(r, "verbs"),
					})
				}
			}
		}
	}
}

// stringAt returns the string at a path, or "" if the value is missing or has another type.
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
