// Package nearest suggests names that are similar to a misspelled name.
package nearest

import (
	"cmp"
	"slices"
	"strings"
)

// To returns up to three names, the most similar first. Names that contain the given name, or that it contains, come
// before all others. The rest is ordered by edit distance.
func To(name string, names []string) []string {
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(distance(name, a), distance(name, b)) })
	return names[:min(3, len(names))]
}

// Likely returns those names of To that differ by at most one edit per three letters.
func Likely(name string, names []string) []string {
	return slices.DeleteFunc(To(name, names), func(other string) bool { return distance(name, other) > (len(name)+2)/3 })
}

func distance(name, other string) int {
	if name != "" && other != "" && (strings.Contains(name, other) || strings.Contains(other, name)) {
		return 0
	}
	return edits(cut(name), cut(other))
}

// cut limits the length of a compared name to 64 bytes.
func cut(name string) []rune { return []rune(name[:min(len(name), 64)]) }

// edits returns the Levenshtein distance: the number of letters to insert, remove or replace.
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
