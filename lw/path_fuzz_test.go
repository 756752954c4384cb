package lw

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzPath checks that Get returns the same values as encoding/json. For a path that Project rejects, Get must find no
// value. For other paths, Get must return the same value from an object and from its projection.
func FuzzPath(f *testing.F) {
	const object = `{"metadata":{"name":"n","labels":{"a.b":"c","":"empty","é":1}},"spec":{"containers":[{"image":"x"},{"image":["y"]}]},` +
		`"":{"":7},"[0]":1,"\\":2,"other":{"0":[{"a]":{"b[":{}}}]}}`
	for _, path := range []string{
		`metadata.labels.a\.b`, "spec.containers[1].image[0]", "spec.containers[*].image", "", ".", "a..b", "[0]", "[*",
		"a[18446744073709551616]", `\`, `\\`, "metadata.labels.é", "spec.containers.[0]", `a\`, "other.0.0.a].b[", "metadata",
	} {
		f.Add(path, object)
	}
	f.Fuzz(func(t *testing.T, path, text string) {
		whole, err := ParseObject([]byte(text))
		if err != nil {
			return
		}
		requireChain(t, whole, decodeAny(t, text), strings.Split(path, "."))
		codec, err := Project(path)
		if err != nil {
			malformed, ok := errors.AsType[*pathError](err)
			require.True(t, ok)
			require.True(t, malformed.Offset >= 0 && malformed.Offset <= len(path))
			if path != "" && !strings.Contains(path, "[") { // Get accepts an index, but Project does not
				require.Empty(t, whole.Get(path), "%v", err)
			}
			return
		}
		kept := projectEachWay(t, []byte(text), codec)
		// Paths with U+FFFD are excluded, because Get also finds names in which invalid UTF-8 decodes as U+FFFD.
		if !strings.ContainsRune(path, utf8.RuneError) {
			require.Equal(t, whole.Get(path), kept.Get(path))
		}
	})
}

// requireChain compares Get with encoding/json at each step of a path. In an array, a step is an index.
func requireChain(t *testing.T, whole *Object, value any, names []string) {
	path := ""
	for _, name := range names {
		switch v := value.(type) {
		case map[string]any:
			if _, ok := v[name]; !ok || name == "" { // a path cannot contain an empty name
				return
			}
			value, path = v[name], path+"."+escapedName(name)
		case []any:
			i, err := strconv.ParseUint(name, 10, 31)
			if err != nil || i >= uint64(len(v)) {
				return
			}
			value, path = v[i], path+"["+name+"]"
		default:
			return
		}
		found := whole.Get(strings.TrimPrefix(path, "."))
		require.NotEmpty(t, found, path)
		require.Equal(t, value, decodeAny(t, found.Raw()), path)
	}
}

func escapedName(name string) string {
	return strings.NewReplacer(`\`, `\\`, ".", `\.`, "[", `\[`).Replace(name)
}

// FuzzRequest checks that the URL contains the names and selectors unchanged, and that they cannot inject other
// parameters.
func FuzzRequest(f *testing.F) {
	f.Add("apps", "v1", "deployments", "shop", "web", "a in (b,c)", "spec.x!=é", "7", "tök/en+=")
	f.Add("", "v1", "pods", "..", "a,b", "%2F&watch=1#", "\x00\xff", " ", "?")
	f.Fuzz(func(t *testing.T, group, version, plural, namespace, name, labels, fields, resourceVersion, token string) {
		resource := Resource{Group: group, Version: version, Plural: plural, Namespace: namespace, Name: name}
		client, err := NewClient(&scriptedTransport{}, resource, RawCodec{}, nil)
		if err != nil {
			return
		}
		watch := client.collection.request(&ListOptions{LabelSelector: labels, FieldSelector: fields, ResourceVersion: resourceVersion}, true)
		list := client.collection.request(&ListOptions{LabelSelector: labels, FieldSelector: fields, ResourceVersion: resourceVersion, Continue: token}, false)
		wanted := map[string]string{"labelSelector": labels, "fieldSelector": resource.fieldSelector(fields), "resourceVersion": resourceVersion}
		requireRequest(t, list, resource, wanted, map[string]string{"continue": token, "pretty": "false"})
		requireRequest(t, watch, resource, wanted, map[string]string{"watch": "1", "allowWatchBookmarks": "true"})
	})
}

func requireRequest(t *testing.T, request *Request, of Resource, parameters ...map[string]string) {
	target, err := url.Parse("https://host" + request.Path + "?" + request.Query)
	require.NoError(t, err)
	require.Equal(t, "host", target.Host)
	require.Empty(t, target.Fragment)
	segments := []string{"", "api", of.Version}
	if of.Group != "" {
		segments = []string{"", "apis", of.Group, of.Version}
	}
	if of.Namespace != "" {
		segments = append(segments, "namespaces", of.Namespace)
	}
	var got []string
	for segment := range strings.SplitSeq(target.EscapedPath(), "/") {
		text, err := url.PathUnescape(segment)
		require.NoError(t, err)
		got = append(got, text)
	}
	require.Equal(t, append(segments, of.Plural), got)
	wanted := url.Values{}
	for _, all := range parameters {
		for name, value := range all {
			if value != "" {
				wanted.Set(name, value)
			}
		}
	}
	require.Equal(t, wanted, target.Query())
}
