package codec

import (
	"errors"
	"reflect"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/internal/builtin"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// ResourceOf returns the collection of an object's type. object is a pointer to a built-in Kubernetes type, for example
// &corev1.Pod{}; its fields do not matter. An empty namespace means all namespaces. ResourceOf returns an error for other
// types, and for a cluster-scoped type if namespace is not empty.
func ResourceOf(object any, namespace string) (lw.Resource, error) {
	t := reflect.TypeOf(object)
	b := builtinOf(t)
	if b == nil {
		return lw.Resource{}, errors.New("codec: " + t.String() + " is not a pointer to a built-in Kubernetes type; use lw.ParseResource instead of ResourceOf")
	}
	return lw.ParseResource(b.Plural+"."+b.Version+"."+b.Group, namespace)
}

// builtinOf returns the resource of t, a pointer to a built-in Kubernetes type. It returns nil for other types.
func builtinOf(t reflect.Type) *builtin.Resource {
	if t.Kind() != reflect.Pointer {
		return nil
	}
	for b := range builtin.All() {
		if t.Elem().Name() == b.Kind && t.Elem().PkgPath() == b.Package {
			return &b
		}
	}
	return nil
}

type wireType struct {
	prefix, apiVersion, kind string // prefix is the JSON at the start of most objects of this type
}

// wireTypes caches a *wireType for each decoded reflect.Type. The value is nil for a type that is not built in.
var wireTypes sync.Map

func wireTypeOf(t reflect.Type) *wireType {
	if known, ok := wireTypes.Load(t); ok {
		return known.(*wireType)
	}
	var want *wireType
	if b := builtinOf(t); b != nil {
		want = newWireType(b)
	}
	wireTypes.Store(t, want)
	return want
}

func newWireType(b *builtin.Resource) *wireType {
	apiVersion := strings.TrimPrefix(b.Group+"/"+b.Version, "/")
	return &wireType{prefix: `{"kind":"` + b.Kind + `","apiVersion":"` + apiVersion + `",`, apiVersion: apiVersion, kind: b.Kind}
}

// checkKind returns a *fieldError if t is a built-in type and the object has the kind or apiVersion of another type. It
// accepts an object without kind and apiVersion.
func checkKind(t reflect.Type, o *lw.Object) error {
	want := wireTypeOf(t)
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
	if _, safe := pathStep(strings.ReplaceAll(text, " ", "/")); !safe {
		return "another kind"
	}
	return text
}
