package cache

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

func TestMaxObjects(t *testing.T) {
	tooMany := tooManyObjects(3)
	for name, c := range map[string]struct {
		lines []string
		want  error
		held  []string
	}{
		"list above the limit":         {[]string{"list@9 x@1 y@2 w@3 z@4"}, tooMany, []string{"w", "x", "y", "z"}},
		"list pages above the limit":   {[]string{"list+@9 x@1 y@2", "list@9 w@3 z@4"}, tooMany, []string{"w", "x", "y", "z"}},
		"watch events above the limit": {[]string{"list@9 x@1 y@2 w@3", "watch ~x@10 -y@11 +y@12 +z@13 +v@14"}, tooMany, []string{"w", "x", "y", "z"}},
		"relist with other objects":    {[]string{"list@9 x@1 y@2 w@3", "watch !expired", "list@20 a@10 b@11 c@12", "watch"}, nil, []string{"a", "b", "c"}},
		"relist above the limit":       {[]string{"list@9 x@1 y@2 w@3", "watch !expired", "list@20 a@10 b@11 c@12 d@13"}, tooMany, []string{"a", "b", "c", "d", "w", "x", "y"}},
		"updates at the limit":         {[]string{"list@9 x@1 y@2 w@3", "watch +x@10 +y@11 +w@12", "watch"}, nil, []string{"w", "x", "y"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancel(t.Context())
				traced := 0
				r := NewInformer(&script{t: t, lines: c.lines, end: end}, plainLists())
				r.LimitObjects(3)
				err := r.Run(lw.WithTrace(ctx, &lw.Trace{Event: func(event lw.Event[lw.Keyed]) {
					if event.Type == lw.Interrupted && event.Interruption.Final {
						traced++
					}
				}}))
				if c.want == nil {
					require.ErrorIs(t, err, context.Canceled)
				} else {
					require.Equal(t, c.want, err)
					require.Equal(t, 1, traced)
				}
				require.ElementsMatch(t, c.held, names(slices.Values(r.Store().List())))
				end()
			})
		})
	}
}

// Objects of an interrupted list must not count towards the limit.
func TestMaxObjectsCountsEachList(t *testing.T) {
	r := NewInformer[*lw.Object](&script{t: t}, plainLists())
	r.LimitObjects(2)
	for range 3 {
		applyAll(r.store, lw.Event[*lw.Object]{Type: lw.ListStarted})
		for _, text := range []string{"x@1", "y@2"} {
			applyAll(r.store, lw.Event[*lw.Object]{Type: lw.Added, Object: object(text)})
			require.LessOrEqual(t, r.store.size(), r.maxObjects)
		}
	}
	applyAll(r.store, lw.Event[*lw.Object]{Type: lw.Added, Object: object("z@3")})
	require.Greater(t, r.store.size(), r.maxObjects)
}

func TestUndecodedObjectsCountTowardsLimit(t *testing.T) {
	r := NewInformer[*lw.Object](&script{t: t}, plainLists())
	r.LimitObjects(1)
	undecoded := func(name string) lw.Event[*lw.Object] {
		return lw.Event[*lw.Object]{Type: lw.DecodeFailed, Err: &lw.DecodeError{Type: lw.Added, Key: lw.Key{Name: name}}}
	}
	applyAll(r.store, undecoded("x"))
	require.Equal(t, 1, r.store.size())
	applyAll(r.store, undecoded("y"))
	require.Equal(t, 2, r.store.size())
	err := error(tooManyObjects(r.maxObjects))
	require.ErrorIs(t, err, lw.ErrTooManyObjects)
	require.EqualError(t, err, "the collection has more than 1 objects: raise the limit in LimitObjects if this is expected")
}
