// Package lean replaces functions of the standard library with smaller functions, to save space in a WebAssembly
// module. They have the same names and results, except where noted. The savings were measured with make size, after
// brotli compression.
package lean

import (
	"errors"
	"math"
)

// errNumber is the only error of ParseUint.
var errNumber = errors.New("not a decimal number, or out of range")

// Uint64 replaces the method Uint64 of [encoding/binary.LittleEndian]. It saves 1.9 kB because encoding/binary imports
// reflect. The compiler turns it into a single load.
func Uint64(b []byte) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// ParseUint is like [strconv.ParseUint] for base 10 and 64 bits, except that it returns zero with every error. It saves
// 5.1 kB, mostly because strconv's error types are not linked.
func ParseUint(s string) (uint64, error) {
	n := uint64(0)
	for i := range len(s) {
		digit := uint64(s[i] - '0')
		if digit > 9 || n > (math.MaxUint64-digit)/10 {
			return 0, errNumber
		}
		n = 10*n + digit
	}
	if s == "" {
		return 0, errNumber
	}
	return n, nil
}
