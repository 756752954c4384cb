//go:build !js

package kubeconfig

import (
	"cmp"
	"slices"
	"strings"
)

// nearest returns up to three names, the most similar first: those with the fewest letters to change, and before them those
// of which one is a part of the other.
func nearest(name string, names []string) []string {
	distance := func(other string) int {
		if name != "" && other != "" && (strings.Contains(name, other) || strings.Contains(other, name)) {
			return 0
		}
		return edits(cut(name), cut(other))
	}
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(distance(a), distance(b)) })
	return names[:min(3, len(names))]
}

// cut bounds what is compared.
func cut(name string) []rune { return []rune(name[:min(len(name), 64)]) }

// edits is the number of letters to insert, remove or replace (Levenshtein).
func edits(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			change := diagonal
			if x != y {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
