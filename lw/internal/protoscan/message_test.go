package protoscan

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzVarint checks that this package and encoding/binary agree on varints.
func FuzzVarint(f *testing.F) {
	f.Add([]byte{0x96, 0x01})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02})
	f.Fuzz(func(t *testing.T, data []byte) {
		want, wantSize := binary.Uvarint(data)
		v, size := Uvarint(data)
		require.Equal(t, max(wantSize, 0), size)
		if size == 0 {
			return
		}
		require.Equal(t, want, v)
		encoded := make([]byte, MaxVarint)
		require.Equal(t, binary.AppendUvarint(nil, v), encoded[:PutUvarint(encoded, v)])
	})
}
