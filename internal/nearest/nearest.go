// Package nearest suggests names that are similar to a misspelled name, for example in error messages about a resource, a
// flag or a kubeconfig context.
package nearest

import (
	"cmp"
	"slices"
	"strings"
)

// To returns up to three of the names, starting with the one that is most similar to name. Names that contain name or
// are contained in it come first. The other names are sorted by edit distance.
func To(name string, names []string) []string {
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(distance(name, a), distance(name, b)) })
	return names[:min(3, len(names))]
}

// Likely is like To, but omits names that the user probably did not mean. The edit distance of such a name exceeds a
// quarter of the length of name, rounded up.
func Likely(name string, names []string) []string {
	return slices.DeleteFunc(To(name, names), func(other string) bool { return distance(name, other) > (len(name)+3)/4 })
}

// distance returns the edit distance. It returns 0 if one of the names contains the other, so that this name comes first.
func distance(name, other string) int {
	if name != "" && other != "" && (strings.Contains(name, other) || strings.Contains(other, name)) {
		return 0
	}
	return Edits(name, other)
}

// Edits returns the edit distance of two names. Swapping two adjacent letters counts as one edit. Only the first 64
// bytes of a name count, because the cost grows with the square of the length.
func Edits(name, other string) int {
	a, b := []rune(name[:min(len(name), 64)]), []rune(other[:min(len(other), 64)])
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			if i == 0 || j == 0 {
				rows[i][j] = i + j
				continue
			}
			change := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			rows[i][j] = min(change, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
