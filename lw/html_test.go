package lw

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An HTML page with a server error comes from a gateway, so the stream retries as after a broken connection. The page's
// text must not appear in the error.
func TestHTMLErrorPages(t *testing.T) {
	page := ReadStatusError(500, "", strings.NewReader("<html><body>Oops</body></html>"), nil)
	require.Equal(t, connection, faultOf(page))
	require.Equal(t, "the server answered 500", page.Error())
	require.Equal(t, protocol, faultOf(ReadStatusError(500, "", strings.NewReader("Oops"), nil)))
	page = ReadStatusError(500, "", strings.NewReader("\r\n<!DOCTYPE html>\n<p>Oops"), nil)
	require.Equal(t, "<!DOCTYPE html>", page.Message)
	require.Equal(t, connection, faultOf(page), "a page may begin with an empty line")
}
