//go:build unix

package cache

import (
	"io"
	"syscall"
	"testing"
	"unsafe"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// The string is a memory mapping that is never read, so it uses no physical memory.
func TestStringTooLong(t *testing.T) {
	space, err := syscall.Mmap(-1, 0, maxText+1, syscall.PROT_READ, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	defer func() { require.NoError(t, syscall.Munmap(space)) }()
	store, writer := NewStore(nil, lw.Identity[*lw.Object]{})
	writer.Replace("7", object("x@1"))
	err = Save(io.Discard, store.Snapshot(), origin, func(*lw.Object) string { return unsafe.String(&space[0], len(space)) })
	require.ErrorIs(t, err, errTextTooLong)
}
