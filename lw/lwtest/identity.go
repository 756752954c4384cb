package lwtest

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"time"
)

func timestamp() string { return time.Now().UTC().Format(time.RFC3339) }

// suffix returns n random characters for generateName. The alphabet contains no vowels, so the characters do not form
// words.
func suffix(n int) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[mathrand.IntN(len(alphabet))]
	}
	return string(b)
}

func newUID() string {
	var b [16]byte
	rand.Read(b[:]) // rand.Read never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
