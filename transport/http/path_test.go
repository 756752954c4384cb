package http_test

import (
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// The transport must reject the path before it dials, also in a browser, so that another host cannot receive the token.
func TestPathIsNotParsedAsHost(t *testing.T) {
	transport, err := lwhttp.New("http://127.0.0.1:1", &lwhttp.Options{Token: "t"})
	require.NoError(t, err)
	defer transport.Close()
	_, err = transport.Open(t.Context(), &lw.Request{Path: "@127.0.0.1:2/x"})
	require.EqualError(t, err, "http: the request path must start with a slash, for example /api/v1/pods")
}
