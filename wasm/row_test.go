//go:build js

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Strings that differ in one bit, in the order of two words or in their length must have different hashes.
func TestHash(t *testing.T) {
	text := []byte("twenty-four bytes at the beginning, then a partial word")
	seen := map[uint64]string{hash(text): string(text)}
	add := func(text string) {
		sum := hash([]byte(text))
		require.Empty(t, seen[sum], text)
		seen[sum] = text
	}
	for at := range text {
		for bit := range 8 {
			text[at] ^= 1 << bit
			add(string(text))
			text[at] ^= 1 << bit
		}
	}
	for n := range text {
		add(string(text[:n]))
	}
	for at := 8; at+8 < len(text); at += 8 {
		add(string(text[at:at+8]) + string(text[8:at]) + string(text[:8]) + string(text[at+8:]))
	}
}
