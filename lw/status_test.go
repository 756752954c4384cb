package lw

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestOfARefusalNoMoreIsReadThanNeeded(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 100)
	for _, read := range []func(io.Reader) io.Reader{
		func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader,
	} {
		for _, n := range []int{0, 1, 511, 512, 513, 1000, len(text), 2 * len(text)} {
			rest := strings.NewReader(text)
			require.Equal(t, text[:min(n, len(text))], string(readUpTo(read(rest), n)))
			require.Equal(t, max(0, len(text)-n), rest.Len())
		}
	}
	require.Equal(t, text, string(readUpTo(iotest.DataErrReader(strings.NewReader(text)), 2*len(text))))
	broken := io.MultiReader(strings.NewReader("half a"), iotest.ErrReader(errors.New("broken")))
	require.Equal(t, "half a", string(readUpTo(broken, 100)))
}
