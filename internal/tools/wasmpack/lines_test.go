package wasmpack

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// functionTable returns a function table with one function. stack, file, line and others are the offsets of the
// function's pc-value tables.
func functionTable(values []byte, startLine uint32, stack, file, line uint32, others ...uint32) []byte {
	const header = 72
	u32, u64 := binary.LittleEndian.AppendUint32, binary.LittleEndian.AppendUint64
	table := append([]byte(nil), tableStart...)
	for _, n := range []int{1, 1, 0, header, header, header, header, header + len(values)} {
		table = u64(table, uint64(n))
	}
	table = append(table, values...)
	table = u32(u32(table, 7), 8) // address of the function and offset of its description
	for _, n := range []uint32{7, 6, 5, 4, stack, file, line, uint32(len(others)), 3, startLine, 0x02010003} {
		table = u32(table, n)
	}
	for _, n := range others {
		table = u32(table, n)
	}
	return table
}

func TestDropsLines(t *testing.T) {
	all := []byte{0 /* 1 */, 2, 4, 0 /* 4 */, 0, 130, 1, 3, 1, 0 /* 10 */, 9, 9, 0 /* 13 */, 0, 1, 0}
	kept := []byte{0, 2, 4, 0, 0, 130, 1, 3, 1, 0, 0, 0, 0, 0, 1, 0}
	data := append([]byte("before"), functionTable(all, 77, 1, 4, 10, 4, 0, 13)...)
	require.NoError(t, dropLines(data))
	require.Equal(t, append([]byte("before"), functionTable(kept, 0, 1, 0, 0, 4, 0, 13)...), data)
}

func TestRejectsMalformedFunctionTables(t *testing.T) {
	good := functionTable([]byte{0, 2, 4, 0}, 77, 1, 0, 0, 1)
	require.NoError(t, dropLines(append([]byte(nil), good...)))
	for cut := len(tableStart); cut < len(good); cut++ {
		require.ErrorIs(t, dropLines(append([]byte(nil), good[:cut]...)), errShape, "table truncated at byte %d", cut)
	}
	require.ErrorIs(t, dropLines(functionTable([]byte{0, 2, 4}, 77, 1, 0, 0)), errShape, "a table without a terminator must be rejected")
	require.ErrorIs(t, dropLines(functionTable([]byte{0, 2, 4, 0}, 77, 1, 0, 0, 9)), errShape, "an offset after the last table must be rejected")
	_, err := Pack(module(segment{100, good[:len(good)-1]}))
	require.ErrorIs(t, err, errShape)
}
