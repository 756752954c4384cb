package revlog

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func keys(t *testing.T, l *Log[string], prefix string, revision int64) (list []string) {
	t.Helper()
	entries, err := l.At("c", prefix, revision)
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Key)
	}
	return list
}

func sorted(m map[string]Entry[int]) (list []Entry[int]) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[key])
	}
	return list
}
