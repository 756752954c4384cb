package ws

import (
	"encoding/base64"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATokenIsWrittenAsThePackageForBase64DoesIt(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for length := range 100 {
		token := make([]byte, length)
		for i := range token {
			token[i] = byte(random.Uint32())
		}
		require.Equal(t, base64.RawURLEncoding.EncodeToString(token), base64url(string(token)))
	}
}
