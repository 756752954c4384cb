// Package nearest suggests names that are similar to a misspelled name.
package nearest

import (
	"cmp"
	"slices"
	"strings"
)

// To returns up to three of the names, most similar first. A name comes first if it contains the given name or is part
// of it. The others are sorted by edit distance.
func To(name string, names []string) []string {
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(distance(name, a), distance(name, b)) })
	return names[:min(3, len(names))]
}

// Likely is like To, but omits names that differ by more than one edit per three letters.
func Likely(name string, names []string) []string {
	return slices.DeleteFunc(To(name, names), func(other string) bool { return distance(name, other) > (len(name)+2)/3 })
}

func distance(name, other string) int {
	if name != "" && other != "" && (strings.Contains(name, other) || strings.Contains(other, name)) {
		return 0
	}
	return edits(cut(name), cut(other))
}

// cut returns the first 64 bytes of a name as runes.
func cut(name string) []rune { return []rune(name[:min(len(name), 64)]) }

// edits returns the Levenshtein distance of a and b.
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
