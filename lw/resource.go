package lw

import (
	"errors"
	"strings"
)

// Resource names a collection on an API server, or one object in it.
type Resource struct {
	Group     string // as "apps"; "" is the core group
	Version   string // as "v1"
	Plural    string // as "deployments"
	Namespace string // "" means all namespaces, or a resource that has none
	Name      string // "" means all objects

	// Raw is a path from the server's root that takes the place of Group, Version, Plural and Namespace, for servers with
	// paths of their own. It may have a query, to which the engine's parameters are added.
	Raw string
}

// Pods is the core group's pods in a namespace; "" means all of them.
func Pods(namespace string) Resource {
	return Resource{Version: "v1", Plural: "pods", Namespace: namespace}
}

// String names the resource as kubectl does, with its namespace in front: "kube-system/deployments.apps".
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

// validate says what is missing.
func (r Resource) validate() error {
	switch {
	case r.Raw != "" && r.Raw[0] != '/':
		return errors.New("lw: Resource.Raw " + r.Raw + " must begin with a slash")
	case r.Raw == "" && r.Plural == "":
		return errors.New("lw: Resource needs Plural, as \"pods\", or Raw")
	case r.Raw == "" && r.Version == "":
		return errors.New("lw: Resource " + r.Plural + " needs Version, as \"v1\"")
	case strings.Contains(r.Plural+r.Group+r.Version, "/"):
		return errors.New("lw: Resource " + r.String() + " has a slash: Group and Version are two, as \"apps\" and \"v1\", and an object has Name")
	}
	for _, segment := range []string{r.Group, r.Version, r.Namespace, r.Plural} {
		if segment == "." || segment == ".." { // whoever reads the URL would leave it out, and the segment before it
			return errors.New("lw: Resource " + r.String() + " has " + segment + " in its path, which is no name")
		}
	}
	return nil
}

// path returns the collection's path, and a raw path's own query.
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

// fieldSelector adds the resource's name to the caller's selector: a server ignores watch on the path of one object.
func (r Resource) fieldSelector(selector string) string {
	switch {
	case r.Name == "":
		return selector
	case selector == "":
		return "metadata.name=" + r.Name
	}
	return "metadata.name=" + r.Name + "," + selector
}

// query builds a URL's query.
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

// escape percent-encodes all but RFC 3986's unreserved characters, which is right in a path's segment and in a query.
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
