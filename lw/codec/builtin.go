package codec

import (
	"errors"
	"reflect"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/builtin"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// ResourceOf returns the collection of an object's type. object is a pointer to a built-in Kubernetes type, for example
// &corev1.Pod{}; its fields do not matter. An empty namespace means all namespaces. ResourceOf returns an error if the
// type is not built in, or if the type is cluster-scoped and namespace is not empty.
func ResourceOf(object any, namespace string) (lw.Resource, error) {
	t := reflect.TypeOf(object)
	if t == nil {
		return lw.Resource{}, errors.New("codec: nil is not a pointer to a built-in Kubernetes type; pass a pointer such as &corev1.Pod{}")
	}
	var b *builtin.Resource
	if t.Kind() == reflect.Pointer {
		b = builtinOf(t.Elem())
	}
	if b == nil {
		return lw.Resource{}, errors.New("codec: " + t.String() + " is not a pointer to a built-in Kubernetes type; use lw.ParseResource instead of ResourceOf")
	}
	return lw.ParseResource(b.Plural+"."+b.Version+"."+b.Group, namespace)
}

// builtinOf returns the resource of a built-in Kubernetes type. It returns nil for other types.
func builtinOf(t reflect.Type) *builtin.Resource {
	for b := range builtin.All() {
		if t.Name() == b.Kind && t.PkgPath() == b.Package {
			return &b
		}
	}
	return nil
}

// wireType contains the apiVersion and kind of the objects of a built-in type. [Into] checks them, because most objects of
// another kind would otherwise decode without an error. prefix is the JSON with which most objects of the type start. It
// saves check the search for both members.
type wireType struct {
	prefix, apiVersion, kind string
}

// newWireType returns the wireType of a built-in resource, or nil if b is nil.
func newWireType(b *builtin.Resource) *wireType {
	if b == nil {
		return nil
	}
	apiVersion := strings.TrimPrefix(b.Group+"/"+b.Version, "/")
	return &wireType{prefix: `{"kind":"` + b.Kind + `","apiVersion":"` + apiVersion + `",`, apiVersion: apiVersion, kind: b.Kind}
}

// check returns a *fieldError if the object's kind or apiVersion belongs to a type other than t. It accepts an object
// without kind and apiVersion. If t is not a built-in type, want is nil, and check accepts any object.
func (want *wireType) check(o *lw.Object, t reflect.Type) error {
	if want == nil || strings.HasPrefix(o.Raw(), want.prefix) {
		return nil
	}
	apiVersion, kind := o.APIVersion(), o.Kind()
	if (kind == "" || kind == want.kind) && (apiVersion == "" || apiVersion == want.apiVersion) {
		return nil
	}
	e := &fieldError{
		field:    "kind",
		expected: want.apiVersion + " " + want.kind + " (the type that codec.ResourceOf lists for " + t.String() + ")",
		found:    printable(strings.Trim(apiVersion+" "+kind, " ")),
	}
	if kind == "" || kind == want.kind {
		e.field = "apiVersion"
	}
	return e
}

// printable returns text if it is short and printable. Otherwise it returns a placeholder, because the text is not safe
// to log.
func printable(text string) string {
	if _, safe := pathStep(strings.ReplaceAll(text, " ", "/")); !safe { // pathStep rejects the space between apiVersion and kind
		return "another kind"
	}
	return text
}
