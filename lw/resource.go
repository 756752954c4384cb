package lw

import (
	"errors"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/builtin"
	"github.com/seed-6d2a410a/listwatch/internal/nearest"
)

// Resource identifies a collection on an API server, or one object in it.
type Resource struct {
	Group     string // for example "apps", or "" for the core group
	Version   string // for example "v1"
	Plural    string // for example "deployments"
	Namespace string // "" for all namespaces, or for a cluster-scoped resource
	Name      string // "" for all objects

	// Raw is a path from the server's root, for servers with custom paths. It replaces Group, Version, Plural and
	// Namespace. It may contain a query, to which the client adds its parameters.
	Raw string
}

// Pods returns the Pods resource in a namespace. An empty namespace means all namespaces.
func Pods(namespace string) Resource {
	return Resource{Version: "v1", Plural: "pods", Namespace: namespace}
}

// String returns the namespace, the kubectl name and the object's name, for example "shop/deployments.apps/web". It
// omits empty parts. Raw replaces the namespace and the kubectl name.
func (r Resource) String() string {
	text := r.Plural
	if r.Group != "" {
		text += "." + r.Group
	}
	if r.Namespace != "" {
		text = r.Namespace + "/" + text
	}
	if r.Raw != "" {
		text = r.Raw
	}
	if r.Name != "" {
		text += "/" + r.Name
	}
	return text
}

func (r Resource) validate() error {
	switch {
	case r.Raw != "" && r.Raw[0] != '/':
		return errors.New("lw: Resource.Raw " + r.Raw + " must begin with a slash")
	case r.Raw == "" && r.Plural == "":
		return errors.New("lw: Resource needs Plural (such as \"pods\") or Raw")
	case r.Raw == "" && r.Version == "":
		return errors.New("lw: Resource " + r.Plural + " needs Version, such as \"v1\"")
	case strings.Contains(r.Plural+r.Group+r.Version, "/"):
		return errors.New("lw: Resource " + r.String() + " contains a slash: split \"apps/v1\" into Group and Version, and use Name for an object")
	}
	for _, segment := range []string{r.Group, r.Version, r.Namespace, r.Plural} {
		// Clients and proxies would remove such a segment and so request a different path.
		if segment == "." || segment == ".." {
			return errors.New("lw: Resource " + r.String() + " has the invalid path segment \"" + segment + "\"")
		}
	}
	return nil
}

// path returns the path of the collection, and the query of a raw path.
func (r Resource) path() (path, query string) {
	if r.Raw != "" {
		path, query, _ = strings.Cut(r.Raw, "?")
		return path, query
	}
	path = "/api/" + escape(r.Version)
	if r.Group != "" {
		path = "/apis/" + escape(r.Group) + "/" + escape(r.Version)
	}
	if r.Namespace != "" {
		path += "/namespaces/" + escape(r.Namespace)
	}
	return path + "/" + escape(r.Plural), ""
}

// fieldSelector adds a term for the resource's name to the caller's selector. The name cannot be part of the path,
// because servers ignore the parameter `watch` if the path names a single object.
func (r Resource) fieldSelector(selector string) string {
	switch {
	case r.Name == "":
		return selector
	case selector != "":
		selector = "," + selector
	}
	return "metadata.name=" + escapeTerm.Replace(r.Name) + selector
}

// escapeTerm escapes the characters that have a meaning in a field selector. A name may contain them, for example the name
// of a ClusterRole.
var escapeTerm = strings.NewReplacer(`\`, `\\`, `,`, `\,`, `=`, `\=`)

// query is the encoded query of a URL.
type query []byte

// add appends a parameter, unless its value is empty.
func (q query) add(name, value string) query {
	if value == "" {
		return q
	}
	if len(q) > 0 {
		q = append(q, '&')
	}
	q = append(q, name...)
	q = append(q, '=')
	return append(q, escape(value)...)
}

// escape percent-encodes all bytes except the unreserved characters of RFC 3986. The result is valid in a path segment
// and in a query.
func escape(text string) string {
	const digits = "0123456789ABCDEF"
	var out []byte
	for i := range len(text) {
		c := text[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if letter || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~' {
			out = append(out, c)
		} else {
			out = append(out, '%', digits[c>>4], digits[c&15])
		}
	}
	return string(out)
}

// ParseResource returns the resource with a name such as "pods", "deployments.apps" or "widgets.v1.example.com". An
// empty namespace means all namespaces.
//
// As in kubectl, a name consists of a plural, a version and a group. For a built-in resource, the version and the group
// are optional, and default to those that Kubernetes prefers. A custom resource needs both, because ParseResource does
// not query a server. Short names such as "po" are not supported. The error text suggests a valid name.
func ParseResource(name, namespace string) (Resource, error) {
	plural, rest, _ := strings.Cut(name, ".")
	version, group, _ := strings.Cut(rest, ".")
	if !isAPIVersion(version) {
		version, group = "", rest
	}
	near := ""
	for b := range builtin.All() {
		switch {
		case rest != "" && group != b.Group || version != "" && version != b.Version: // not the requested group or version
		case b.Plural == plural && namespace != "" && !b.Namespaced:
			return Resource{}, errors.New("lw: resource \"" + name + "\" has no namespaces; pass an empty namespace instead of " + namespace)
		case b.Plural == plural:
			return Resource{Group: b.Group, Version: b.Version, Plural: plural, Namespace: namespace}, nil
		case near == "" && isNear(plural, b):
			near = b.Plural + strings.TrimPrefix(name, plural)
		}
	}
	var reason, suggestion string
	switch {
	case version != "" && group != "" && plural != "":
		return Resource{Group: group, Version: version, Plural: plural, Namespace: namespace}, nil
	case near != "":
		reason, suggestion = "is not built in; did you mean", near
	case plural == "":
		reason, suggestion = "has no plural; use a name such as", "pods"
	case group == "":
		reason, suggestion = "is not built in, so it needs a version and a group; use a name such as", plural+".v1.example.com"
	default:
		reason, suggestion = "is not built in, so it needs a version; use a name such as", plural+".v1."+group
	}
	return Resource{}, errors.New("lw: resource \"" + name + "\" " + reason + " \"" + suggestion + "\"")
}

// isNear reports whether the user probably meant the plural of b: word is the kind, or it differs from the plural by at
// most one edit.
func isNear(word string, b builtin.Resource) bool {
	return strings.EqualFold(word, b.Kind) || nearest.Edits(strings.ToLower(word), b.Plural) <= 1
}

// isAPIVersion reports whether text is an API version such as v1 or v2beta1. It rejects words such as v2ray, because
// they can be the start of a group name.
func isAPIVersion(text string) bool {
	number, ok := strings.CutPrefix(text, "v")
	major, minor, unstable := strings.Cut(strings.Replace(number, "alpha", "beta", 1), "beta") // both have the same syntax
	return ok && isNumber(major) && (!unstable || isNumber(minor))
}

// isNumber reports whether text consists of digits.
func isNumber(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}
