package nearest_test

import (
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/nearest"
	"github.com/stretchr/testify/require"
)

func TestSuggestsSimilarNames(t *testing.T) {
	names := []string{"nodes", "pods", "podtemplates", "secrets", "services"}
	for name, want := range map[string][2]string{ // expected results of nearest.To and nearest.Likely
		"pdos":     {"pods nodes secrets", "pods"},
		"crds":     {"pods nodes secrets", ""},
		"pod":      {"pods podtemplates nodes", "pods podtemplates"},
		"servises": {"services secrets nodes", "services"},
		"zzz":      {"pods nodes secrets", ""},
		"":         {"pods nodes secrets", ""},
	} {
		require.Equal(t, want[0], strings.Join(nearest.To(name, names), " "), name)
		require.Equal(t, want[1], strings.Join(nearest.Likely(name, names), " "), name)
	}
	require.Empty(t, nearest.To("x", nil))
}
