package lean

import (
	"encoding/binary"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseUintAgreesWithStrconv(t *testing.T) {
	for _, text := range []string{"", "0", "00", "7", "007", "42", "-1", "+1", " 1", "1 ", "1_0", "0x1", "1e2", "/", ":", "é",
		"18446744073709551615", "18446744073709551616", "18446744073709551620", "99999999999999999999", "184467440737095516150"} {
		want, wantErr := strconv.ParseUint(text, 10, 64)
		got, err := ParseUint(text)
		require.Equal(t, wantErr == nil, err == nil, text)
		if err == nil {
			require.Equal(t, want, got, text)
		}
	}
}

func TestUint64IsLittleEndian(t *testing.T) {
	b := []byte{1, 2, 3, 4, 5, 6, 7, 0xff, 9}
	require.Equal(t, binary.LittleEndian.Uint64(b), Uint64(b))
	require.Panics(t, func() { Uint64(b[:7]) })
}

func TestPoolCreatesValuesIfEmpty(t *testing.T) {
	p := Pool{New: func() any { return new(int) }}
	one, other := p.Get().(*int), p.Get().(*int)
	require.NotSame(t, one, other)
	p.Put(one)
	p.Put(other)
	require.NotSame(t, p.Get(), p.Get())
}
