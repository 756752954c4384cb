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
	"github.com/stretchr/testify/require"
)

// staticServer answers /api, /apis and every group version with fixed strings.
type staticServer struct{ core, groups, version string }

func (s staticServer) Open(_ context.Context, req *lw.Request) (io.ReadCloser, error) {
	text := s.version
	switch req.Path {
	case "/api":
		text = s.core
	case "/apis":
		text = s.groups
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

// FuzzAsk compares the resources and their order with encoding/json's result. It also checks that Find accepts each
// completed name.
func FuzzAsk(f *testing.F) {
	f.Add(cluster["/api"], cluster["/apis"], "", "deploy.apps")
	f.Add(`{"kind":"APIVersions","versions":["v1","v1"]}`,
		`{"kind":"APIGroupList","groups":[{"preferredVersion":{"groupVersion":"apps/v1"},"versions":[{"groupVersion":"apps/v1beta1"},{"groupVersion":"apps/v1"}]}]}`,
		`{"resources":[{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","shortNames":["po"],"verbs":["list","watch"]},{"name":"pods/status"}]}`, "pod")
	f.Add(`{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":7},"versions":[{"version":null,"freshness":"Stale","resources":[{"resource":"a"},{"resource":["b"]},3]}]},null]}`, `{} x`, "[]", ".")
	f.Add(strings.Repeat("[", 5000), `{"kind":"APIVersions","kind":"APIGroup\u004cist","versions":{},"groups":[{"versions":["a"]}]}`, "", "\xff..")
	f.Fuzz(func(t *testing.T, core, groups, version, name string) {
		all, err := discovery.Ask(t.Context(), staticServer{core, groups, version})
		if tooDeep(core) || tooDeep(groups) || tooDeep(version) {
			return
		}
		want := append(reference(core, "/api", version), reference(groups, "/apis", version)...)
		if err != nil {
			require.Empty(t, want)
			return
		}
		require.Equal(t, want, all.All)
		if _, err := all.Find(name); err != nil {
			require.NotEmpty(t, err.Error())
		}
		for i, r := range all.All {
			if !regular.MatchString(r.Plural) || r.Group != "" && !regularGroup.MatchString(r.Group) || !regularVersion.MatchString(r.Version) {
				return // real servers do not use such names
			}
			if i > 0 && r.Group == "" && all.All[i-1].Group != "" {
				return // the core group comes first
			}
		}
		for _, named := range all.Names() {
			found, err := all.Find(named.Name)
			require.NoError(t, err)
			require.Equal(t, named.Resource, found, named.Name)
		}
	})
}

// These patterns match valid names. regularGroup rejects a label that starts with v, because Find and kubectl can
// mistake such a group for a version.
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

// reference decodes the resources below /api or /apis with encoding/json.
func reference(text, root, version string) (all []discovery.Resource) {
	document := decode(text)
	switch document["kind"] {
	case "APIGroupDiscoveryList":
		for _, group := range objects(document["items"]) {
			for _, v := range objects(group["versions"]) {
				for _, r := range objects(v["resources"]) {
					kind, _ := r["responseKind"].(object)
					metadata, _ := group["metadata"].(object)
					all = append(all, discovery.Resource{
						Group: stringOf(metadata["name"]), Version: stringOf(v["version"]), Plural: stringOf(r["resource"]), Singular: stringOf(r["singularResource"]),
						Kind: stringOf(kind["kind"]), ShortNames: stringsOf(r["shortNames"]), Namespaced: r["scope"] == "Namespaced", Verbs: stringsOf(r["verbs"]),
					})
				}
			}
		}
	case "APIVersions", "APIGroupList":
		seen := map[string]bool{"": true}
		for _, groupVersion := range groupVersions(document) {
			if !seen[groupVersion] {
				all = append(all, listed(groupVersion, version)...)
			}
			seen[groupVersion] = true
		}
		if len(seen) > 1001 {
			return nil
		}
	}
	var named []discovery.Resource
	for _, r := range all {
		if r.Plural != "" {
			named = append(named, r)
		}
	}
	return named
}

func groupVersions(document object) []string {
	all := stringsOf(document["versions"])
	for _, group := range objects(document["groups"]) {
		preferred, _ := group["preferredVersion"].(object)
		all = append(all, stringOf(preferred["groupVersion"]))
		for _, v := range objects(group["versions"]) {
			all = append(all, stringOf(v["groupVersion"]))
		}
	}
	return all
}

// listed returns the resources of an APIResourceList.
func listed(groupVersion, text string) (all []discovery.Resource) {
	group, version, found := strings.Cut(groupVersion, "/")
	if !found {
		group, version = "", groupVersion
	}
	for _, r := range objects(decode(text)["resources"]) {
		name := stringOf(r["name"])
		if strings.Contains(name, "/") {
			continue
		}
		all = append(all, discovery.Resource{
			Group: group, Version: version, Plural: name, Singular: stringOf(r["singularName"]), Kind: stringOf(r["kind"]),
			ShortNames: stringsOf(r["shortNames"]), Namespaced: r["namespaced"] == true, Verbs: stringsOf(r["verbs"]),
		})
	}
	return all
}

// decode returns the first JSON value of a string if it is an object.
func decode(text string) object {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
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
