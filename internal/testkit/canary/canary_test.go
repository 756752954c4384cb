package canary_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/canary"
	"github.com/stretchr/testify/require"
)

func TestFindsSecretsInEveryEncoding(t *testing.T) {
	secrets := canary.Secrets{}
	token := secrets.New("token")
	quoted, err := json.Marshal(map[string]string{"a": token})
	require.NoError(t, err)
	for _, text := range []string{
		token, token[:len(token)-8], url.QueryEscape(token), url.PathEscape("a b" + token), string(quoted), fmt.Sprintf("%x", token), fmt.Sprint([]byte(token)),
		hex.EncodeToString([]byte("Bearer " + token)), url.UserPassword("jane", token).String(),
	} {
		require.NotEmpty(t, secrets.In("before "+text+" after"), text)
	}
	for before := range 9 {
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			text := encoding.EncodeToString([]byte("jane:----"[:before] + token + ":more"))
			require.NotEmpty(t, secrets.In(text), text)
		}
	}
	require.Empty(t, secrets.In("C4nary without a secret: Bearer …"))
}
