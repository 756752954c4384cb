package recall

import (
	"testing"

	"github.com/stretchr/testify/require"
)

type source struct{ name string }

func TestOnlyUnwrappedSourceGetsStoredObjects(t *testing.T) {
	client := &source{"client"}
	ctx := With(t.Context(), client, func(_, name, _, _ []byte) (string, bool) { return string(name), true })
	object, ok := From[string](ctx, client)(nil, []byte("a"), nil, nil)
	require.True(t, ok)
	require.Equal(t, "a", object)
	require.Nil(t, From[string](ctx, struct{ *source }{client}), "From must return nil for a wrapped source")
	require.Nil(t, From[int](ctx, client), "From must return nil for objects of another type")
	require.Nil(t, From[string](t.Context(), client))
}
