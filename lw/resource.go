package lw

import (
	"errors"
	"strings"
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
		if segment == "." || segment == ".." { // clients and proxies would remove the segment from the path
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

// fieldSelector returns the caller's selector with an added term for the resource's name. It is needed because servers
// ignore the watch parameter on an object's path.
func (r Resource) fieldSelector(selector string) string {
	switch {
	case r.Name == "":
		return selector
	case selector == "":
		return "metadata.name=" + r.Name
	}
	return "metadata.name=" + r.Name + "," + selector
}

// query is the encoded query of a URL.
type query []byte

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
		if letter || isDigit(c) || c == '-' || c == '.' || c == '_' || c == '~' {
			out = append(out, c)
		} else {
			out = append(out, '%', digits[c>>4], digits[c&15])
		}
	}
	return string(out)
}
