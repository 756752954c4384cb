package labels

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzSelectors in e2e/clients compares Parse with the parser of Kubernetes.
func TestSelectorsMatchLabels(t *testing.T) {
	all := map[string]map[string]string{
		"a": {"app": "web", "tier": "front"}, "b": {"app": "db", "tier": "back"}, "c": {"example.com/x": ""}, "d": {"n": "10", "app": "Web"},
	}
	for text, want := range map[string]string{
		"":                     "a b c d",
		" ":                    "a b c d",
		"app":                  "a b d",
		"! app":                "c",
		"app=web":              "a",
		"app==web":             "a",
		"app = web,tier=front": "a",
		"app!=web":             "b c d",
		"app in (web,Web)":     "a d",
		"app notin (web)":      "b c d",
		"example.com/x=":       "c",
		"example.com/x":        "c",
		"example.com/x in ()":  "c",
		"n>9":                  "d",
		"n>10":                 "",
		"n<11,n>-1":            "!",
		"n<11":                 "d",
		"app<1":                "",
		"app=web,app=db":       "",
		"a,,b":                 "!",
		"a,":                   "!",
		",":                    "!",
		"=a":                   "!",
		"a=b=c":                "!",
		"a=(b)":                "!",
		"a in b":               "!",
		"a in (b":              "!",
		"a in (b c)":           "!",
		"n>x":                  "!",
		"n>":                   "!",
		"-a":                   "!",
		"a-":                   "!",
		"a_.-b":                "",
		"a=b_":                 "!",
		"A.b/c":                "!",
		"a..b/c":               "!",
		"a-/c":                 "!",
		"/c":                   "!",
		"a/":                   "!",
		"a/b/c":                "!",
		"a_b/c":                "!",
		"a-b.c/D":              "",
		strings.Repeat("a", 63) + "=" + strings.Repeat("b", 63): "",
		strings.Repeat("a", 64):                                 "!",
		"a=" + strings.Repeat("b", 64):                          "!",
		strings.Repeat("a", 253) + "/b":                         "",
		strings.Repeat("a", 254) + "/b":                         "!",
	} {
		s, err := Parse(text)
		if want == "!" {
			require.ErrorContains(t, err, "unable to parse requirement", text)
			continue
		}
		require.NoError(t, err, text)
		var found []string
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if s.Matches(func(key string) (string, bool) { value, ok := all[name][key]; return value, ok }) {
				found = append(found, name)
			}
		}
		require.Equal(t, want, strings.Join(found, " "), text)
	}
}
