package lwtest

import (
	"crypto/rand"
	"fmt"
	"time"
)

func timestamp() string { return time.Now().UTC().Format(time.RFC3339) }

// suffix is what generateName appends, of characters that spell no word.
func suffix(n int, intN func(int) int) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[intN(len(alphabet))]
	}
	return string(b)
}

// newUID is a random UUID, version 4.
func newUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
