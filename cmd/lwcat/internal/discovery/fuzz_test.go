package discovery_test

import (
	"context"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/discovery"
	"github.com/seed-6d2a410a/listwatch/lw"
	served "github.com/seed-6d2a410a/listwatch/lw/discovery"
	"github.com/stretchr/testify/require"
)

// staticServer answers /api and /apis with fixed strings.
type staticServer struct{ core, groups string }

func (s staticServer) Open(_ context.Context, req *lw.Request) (*lw.Response, error) {
	text := s.core
	if req.Path == "/apis" {
		text = s.groups
	}
	return &lw.Response{ReadCloser: io.NopCloser(strings.NewReader(text))}, nil
}

// FuzzAsk checks that Ask and encoding/json find the same resources in the same order. It also checks that Find accepts
// every name that Names returns.
func FuzzAsk(f *testing.F) {
	f.Add(cluster["/api"], cluster["/apis"], "deploy.apps")
	f.Add(`{"kind":"APIVersions","versions":["v1","v1"]}`, `{"kind":"APIGroupList","groups":[]}`, "pod")
	f.Add(`{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":7},"versions":[{"version":null,"freshness":"Stale","resources":[{"resource":"a"},{"resource":["b"]},3]}]},null]}`, `{} x`, ".")
	f.Add(strings.Repeat("[", 5000), `{"kind":"APIVersions","kind":"APIGroup\u004cist","versions":{},"groups":[{"versions":["a"]}]}`, "\xff..")
	f.Fuzz(func(t *testing.T, core, groups, name string) {
		all, err := discovery.Ask(t.Context(), staticServer{core, groups})
		if tooDeep(core) || tooDeep(groups) {
			return
		}
		want := append(reference(core), reference(groups)...)
		if err != nil {
			require.Empty(t, want)
			return
		}
		require.Equal(t, want, all.All)
		if _, err := all.Find(name); err != nil {
			require.NotEmpty(t, err.Error())
		}
		for i, r := range all.All {
			if !regular.MatchString(r.Resource) || r.Group != "" && !regularGroup.MatchString(r.Group) || !regularVersion.MatchString(r.Version) {
				return // real servers do not use such names
			}
			if i > 0 && r.Group == "" && all.All[i-1].Group != "" {
				return // servers list the core group first
			}
		}
		for _, named := range all.Names() {
			found, err := all.Find(named.Name)
			require.NoError(t, err)
			require.Equal(t, named.TypeInfo, found, named.Name)
		}
	})
}

// These patterns match valid names. regularGroup rejects a group if one of its parts starts with v, because Find and
// kubectl can mistake that part for a version.
var (
	regular        = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	regularVersion = regexp.MustCompile(`^v[0-9][a-z0-9]*$`)
	regularGroup   = regexp.MustCompile(`^[a-uw-z][-a-z0-9]*(\.[a-uw-z][-a-z0-9]*)*$`)
)

// tooDeep reports whether the JSON text is nested deeper than lw accepts.
func tooDeep(text string) bool {
	var first json.RawMessage
	if json.NewDecoder(strings.NewReader(text)).Decode(&first) != nil {
		return false
	}
	_, err := lw.ParseValue(first)
	return err != nil && strings.Contains(err.Error(), "levels of nesting")
}

type object = map[string]any

// reference decodes the resources of an aggregated document with encoding/json.
func reference(text string) (all []served.TypeInfo) {
	document := decode(text)
	if document["kind"] != "APIGroupDiscoveryList" {
		return nil
	}
	for _, group := range objects(document["items"]) {
		for _, v := range objects(group["versions"]) {
			for _, r := range objects(v["resources"]) {
				kind, _ := r["responseKind"].(object)
				metadata, _ := group["metadata"].(object)
				if stringOf(r["resource"]) == "" {
					continue
				}
				all = append(all, served.TypeInfo{
					Type:    served.Type{Group: stringOf(metadata["name"]), Resource: stringOf(r["resource"])},
					Version: stringOf(v["version"]), Singular: stringOf(r["singularResource"]), Kind: stringOf(kind["kind"]),
					ShortNames: stringsOf(r["shortNames"]), Categories: stringsOf(r["categories"]), Verbs: stringsOf(r["verbs"]), Namespaced: r["scope"] == "Namespaced",
				})
			}
		}
	}
	return all
}

// decode returns the JSON value of a string if it is an object.
func decode(text string) object {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil || decoder.Decode(new(any)) != io.EOF {
		return nil
	}
	document, _ := value.(object)
	return document
}

func objects(value any) (all []object) {
	elements, _ := value.([]any)
	for _, element := range elements {
		o, _ := element.(object)
		all = append(all, o)
	}
	return all
}

func stringOf(value any) string {
	text, _ := value.(string)
	return text
}

func stringsOf(value any) (all []string) {
	elements, _ := value.([]any)
	for _, element := range elements {
		all = append(all, stringOf(element))
	}
	return all
}
