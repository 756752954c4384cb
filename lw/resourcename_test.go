package lw

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/builtin"
)

func TestParseResource(t *testing.T) {
	for name, want := range map[string]Resource{
		"pods":                     {Version: "v1", Plural: "pods"},
		"pods.v1":                  {Version: "v1", Plural: "pods"},
		"pods.v1.":                 {Version: "v1", Plural: "pods"},
		"events":                   {Version: "v1", Plural: "events"},
		"events.events.k8s.io":     {Group: "events.k8s.io", Version: "v1", Plural: "events"},
		"deployments":              {Group: "apps", Version: "v1", Plural: "deployments"},
		"deployments.apps":         {Group: "apps", Version: "v1", Plural: "deployments"},
		"deployments.v1beta2.apps": {Group: "apps", Version: "v1beta2", Plural: "deployments"},
		"deployments.v9.apps":      {Group: "apps", Version: "v9", Plural: "deployments"},
		"deployments.extensions":   {Group: "extensions", Version: "v1beta1", Plural: "deployments"},
		"horizontalpodautoscalers": {Group: "autoscaling", Version: "v2", Plural: "horizontalpodautoscalers"},
		"ingresses":                {Group: "networking.k8s.io", Version: "v1", Plural: "ingresses"},
		"endpoints":                {Version: "v1", Plural: "endpoints"},
		"widgets.v1.example.com":   {Group: "example.com", Version: "v1", Plural: "widgets"},
		"pods.v1alpha12.x.io":      {Group: "x.io", Version: "v1alpha12", Plural: "pods"},
		"rules.v1.v2ray.io":        {Group: "v2ray.io", Version: "v1", Plural: "rules"},
	} {
		for _, namespace := range []string{"", "shop"} {
			want.Namespace = namespace
			got, err := ParseResource(name, namespace)
			require.NoError(t, err, name)
			require.Equal(t, want, got, name)
			require.NoError(t, got.validate())
		}
	}
	pods, err := ParseResource("pods", "shop")
	require.NoError(t, err)
	require.Equal(t, Pods("shop"), pods)
}

func TestParseResourceErrors(t *testing.T) {
	for _, test := range []struct{ name, namespace, suggestion, want string }{
		{"widgets", "", "widgets.v1.example.com", `is not built in, so it needs a version and a group; use a name such as "widgets.v1.example.com"`},
		{"widgets.v1", "", "widgets.v1.example.com", `is not built in, so it needs a version and a group; use a name such as "widgets.v1.example.com"`},
		{"widgets.lw.example.com", "", "widgets.v1.lw.example.com", `is not built in, so it needs a version; use a name such as "widgets.v1.lw.example.com"`},
		{"rules.v2ray.io", "", "rules.v1.v2ray.io", `is not built in, so it needs a version; use a name such as "rules.v1.v2ray.io"`},
		{"pod", "", "pods", `is not built in; did you mean "pods"`},
		{"Pods", "", "pods", `is not built in; did you mean "pods"`},
		{"Deployment.apps", "", "deployments.apps", `is not built in; did you mean "deployments.apps"`},
		{"depoyments.v1.apps", "", "", ""},
		{"depoyments", "", "deployments", `is not built in; did you mean "deployments"`},
		{"networkpolicy", "", "networkpolicies", `is not built in; did you mean "networkpolicies"`},
		{"", "", "pods", `has no plural; use a name such as "pods"`},
		{".v1.apps", "", "pods", `has no plural; use a name such as "pods"`},
		{"nodes", "shop", "", "has no namespaces; pass an empty namespace instead of shop"},
		{"nodes.v1", "shop", "", "has no namespaces; pass an empty namespace instead of shop"},
	} {
		_, err := ParseResource(test.name, test.namespace)
		if test.want == "" {
			require.NoError(t, err, "a name with a version must be accepted, because it may be a custom resource")
			continue
		}
		require.Equal(t, test.suggestion != "", strings.HasSuffix(err.Error(), ` "`+test.suggestion+`"`), "%v", err)
		require.EqualError(t, err, `lw: resource "`+test.name+`" `+test.want)
	}
}

// ParseResource must find each built-in resource by its full name. For a shorter name, it must return the first
// matching entry of builtin.All.
func TestParseResourceFindsAllBuiltIns(t *testing.T) {
	seen := map[string]bool{}
	for b := range builtin.All() {
		want := Resource{Group: b.Group, Version: b.Version, Plural: b.Plural}
		names := []string{strings.TrimSuffix(b.Plural+"."+b.Version+"."+b.Group, ".")}
		for _, shorter := range []string{strings.TrimSuffix(b.Plural+"."+b.Group, "."), b.Plural} {
			if !seen[shorter] {
				names = append(names, shorter)
			}
			seen[shorter] = true
		}
		for _, name := range slices.Compact(names) {
			got, err := ParseResource(name, "")
			require.NoError(t, err, name)
			require.Equal(t, want, got, name)
			_, err = ParseResource(name, "shop")
			require.Equal(t, b.Namespaced, err == nil, name)
		}
	}
	require.NotEmpty(t, seen)
}
