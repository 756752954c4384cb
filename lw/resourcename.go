package lw

import (
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/builtin"
)

// ParseResource returns the resource with a name such as "pods", "deployments.apps" or "widgets.v1.example.com". An
// empty namespace means all namespaces.
//
// As in kubectl, a name consists of a plural, a version and a group. The name of a built-in resource may omit the
// version and the group. ParseResource then uses the version and group that Kubernetes prefers. A custom resource needs
// both, because ParseResource does not query a server. Short names such as "po" are not supported. The error text
// suggests a valid name.
func ParseResource(name, namespace string) (Resource, error) {
	plural, rest, _ := strings.Cut(name, ".")
	version, group, _ := strings.Cut(rest, ".")
	explicit := isAPIVersion(version)
	if !explicit {
		version, group = "", rest
	}
	anyGroup := rest == ""
	near := ""
	for i := range builtin.Resources {
		b := &builtin.Resources[i]
		if !anyGroup && group != b.Group || explicit && version != b.Version {
			continue
		}
		if b.Plural == plural {
			return builtinResource(b, name, namespace)
		}
		if near == "" && isNear(plural, b) {
			near = b.Plural + strings.TrimPrefix(name, plural)
		}
	}
	if explicit && group != "" && plural != "" {
		return Resource{Group: group, Version: version, Plural: plural, Namespace: namespace}, nil
	}
	return Resource{}, unknownResource(name, plural, group, near)
}

func builtinResource(b *builtin.Resource, name, namespace string) (Resource, error) {
	if namespace != "" && !b.Namespaced {
		return Resource{}, &resourceError{Name: name, Reason: "has no namespaces; pass an empty namespace instead of " + namespace}
	}
	return Resource{Group: b.Group, Version: b.Version, Plural: b.Plural, Namespace: namespace}, nil
}

// isNear reports whether word is probably a misspelled plural of b. It accepts the kind of b, and words that differ
// from the plural in case or by one letter.
func isNear(word string, b *builtin.Resource) bool {
	other := b.Plural
	if strings.EqualFold(word, b.Kind) || strings.EqualFold(word, other) {
		return true
	}
	for word != "" && other != "" && word[0] == other[0] {
		word, other = word[1:], other[1:]
	}
	for word != "" && other != "" && word[len(word)-1] == other[len(other)-1] {
		word, other = word[:len(word)-1], other[:len(other)-1]
	}
	return len(word) <= 1 && len(other) <= 1
}

// isAPIVersion reports whether text is an API version such as v1 or v2beta1. It rejects words such as v2ray, because
// they can be the start of a group name.
func isAPIVersion(text string) bool {
	const digits = "0123456789"
	number, ok := strings.CutPrefix(text, "v")
	stage := strings.TrimLeft(number, digits)
	if !ok || stage == number || stage == "" {
		return ok && stage != number
	}
	number, ok = strings.CutPrefix(stage, "alpha")
	if !ok {
		number, ok = strings.CutPrefix(stage, "beta")
	}
	return ok && number != "" && strings.TrimLeft(number, digits) == ""
}

func unknownResource(name, plural, group, near string) error {
	switch {
	case near != "":
		return &resourceError{Name: name, Reason: "is not built in; did you mean", Suggestion: near}
	case plural == "":
		return &resourceError{Name: name, Reason: "has no plural; use a name such as", Suggestion: "pods"}
	case group == "":
		return &resourceError{Name: name, Reason: "is not built in, so it needs a version and a group; use a name such as", Suggestion: plural + ".v1.example.com"}
	}
	return &resourceError{Name: name, Reason: "is not built in, so it needs a version; use a name such as", Suggestion: plural + ".v1." + group}
}

type resourceError struct {
	Name       string // the name passed to ParseResource
	Reason     string
	Suggestion string // a valid name, or "" if there is no suggestion
}

func (e *resourceError) Error() string {
	text := "lw: resource \"" + e.Name + "\" " + e.Reason
	if e.Suggestion != "" {
		text += " \"" + e.Suggestion + "\""
	}
	return text
}
