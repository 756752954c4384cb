package lw

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// The error keeps the status code if the body exceeds the limit or cannot be read completely.
func TestErrorResponseIsReadUpToLimit(t *testing.T) {
	body := strings.NewReader(strings.Repeat("x", maxErrorBody+100))
	require.Equal(t, 502, ReadStatusError(502, "", body, nil).Code)
	require.Equal(t, 100, body.Len())

	broken := io.MultiReader(strings.NewReader("half a"), iotest.ErrReader(errors.New("broken")))
	statusErr := ReadStatusError(403, "", broken, nil)
	require.Equal(t, 403, statusErr.Code)
	require.Equal(t, "half a", statusErr.Message)
}

func parseStatus(text []byte) (*StatusError, bool) {
	value, err := ParseValue(text)
	e := &StatusError{}
	return e, err == nil && e.parse(value, nil)
}
