package codec

import (
	"errors"
	"reflect"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/internal/builtin"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// ResourceOf returns the collection of T, a pointer to a built-in Kubernetes type such as *corev1.Pod. An empty namespace
// means all namespaces. It returns an error if T is not built in, or if a namespace is given for objects that live in none.
func ResourceOf[T lw.Keyed](namespace string) (lw.Resource, error) {
	t := reflect.TypeFor[T]()
	b := builtinOf(t)
	if b == nil {
		return lw.Resource{}, errors.New("codec: " + t.String() + " is not a pointer to a built-in Kubernetes type; use lw.ParseResource instead of ResourceOf")
	}
	return lw.ParseResource(b.Plural+"."+b.Version+"."+b.Group, namespace)
}

// builtinOf returns the table's row for a pointer to a built-in type, or nil.
func builtinOf(t reflect.Type) *builtin.Resource {
	if t.Kind() != reflect.Pointer {
		return nil
	}
	for i := range builtin.Resources {
		if b := &builtin.Resources[i]; t.Elem().Name() == b.Kind && t.Elem().PkgPath() == b.Package {
			return b
		}
	}
	return nil
}

// KindError reports an object of another kind or apiVersion than the built-in Go type that it was to be decoded into.
type KindError struct {
	Type            string // the Go type, for example "*v1.Deployment"
	Expected, Found string // apiVersion and kind, for example "apps/v1 Deployment"
}

func (e *KindError) Error() string {
	return e.Type + " is for objects of " + e.Expected + ", found " + e.Found + ": use the collection that codec.ResourceOf returns"
}

// wireType is the kind and the apiVersion of a Go type's objects.
type wireType struct {
	prefix, apiVersion, kind string // an object usually begins with prefix
}

// wireTypes has a *wireType for each reflect.Type that was decoded. It is nil for a type that is not built in.
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

// checkKind returns a *KindError if t is a built-in type and text is an object of another one. An object without a kind or an
// apiVersion may be of any.
func checkKind(t reflect.Type, text string) error {
	want := wireTypeOf(t)
	if want == nil || strings.HasPrefix(text, want.prefix) {
		return nil
	}
	apiVersion, kind := member(text, "apiVersion"), member(text, "kind")
	if (kind == "" || kind == want.kind) && (apiVersion == "" || apiVersion == want.apiVersion) {
		return nil
	}
	found := printable(strings.Trim(apiVersion+" "+kind, " "))
	return &KindError{Type: t.String(), Expected: want.apiVersion + " " + want.kind, Found: found}
}

// member returns the string under a name of an object, or "".
func member(text, name string) string {
	value := lw.Value(text).Member(name)
	if !value.Exists() || value[0] != '"' {
		return ""
	}
	return value.String()
}

// printable returns text if it is short and printable, so that it is safe to log.
func printable(text string) string {
	if _, safe := pathStep(strings.ReplaceAll(text, " ", "/")); !safe {
		return "another kind"
	}
	return text
}
