package cache

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// The filter panics for some objects. OnPanic must receive one panic per object, and all handlers must still receive
// all changes.
func TestPanicInFilterKeepsOtherChanges(t *testing.T) {
	withHarness(t, "x@1 y@2", func(t *testing.T, th *harness) {
		var n, other log
		var values []any
		r := th.informer.Handle(n.handler(), &HandlerOptions[*lw.Object]{
			Filter: func(o *lw.Object) bool {
				if o.GetName() == "x" && o.GetResourceVersion() != "6" {
					panic("x@" + o.GetResourceVersion())
				}
				return o.GetName() != "w"
			},
			OnPanic: func(value any, stack []byte) {
				values = append(values, value)
				require.Contains(t, string(stack), "TestPanicInFilterKeepsOtherChanges")
			},
		})
		th.informer.Handle(other.handler(), nil)
		th.run()
		require.Equal(t, "+x@1! +y@2!", n.take())
		require.True(t, isClosed(r.Synced()))
		th.deliver("+w@3 ~y@4 ~x@5 ~x@6 -x@7 +x@8")
		require.Equal(t, "~y@2>4 ~x@1>5 ~x@5>6 -x@7 +x@8", n.take())
		require.Equal(t, "+x@1! +y@2! +w@3 ~y@2>4 ~x@1>5 ~x@5>6 -x@7 +x@8", other.take())
		require.Equal(t, []any{"x@1", "x@5", "x@8"}, values)
		require.Equal(t, 3, th.informer.Store().Len())
	})
}

// Without OnPanic, a panic in the filter must reach the loop's goroutine. The informer and its other handlers must
// continue.
func TestPanicInFilterOfChangesLoop(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		var other log
		th.informer.Handle(other.handler(), nil)
		recovered := make(chan any)
		go func() {
			defer func() { recovered <- recover() }()
			for range th.informer.Changes(t.Context(), &HandlerOptions[*lw.Object]{Filter: func(o *lw.Object) bool { panic(o.GetName()) }}) {
			}
		}()
		th.run()
		require.Equal(t, "x", <-recovered)
		th.deliver("~x@3")
		require.Equal(t, "+x@1! ~x@1>3", other.take())
		require.Len(t, th.informer.handlers, 1, "only the other handler must remain")
	})
}

func TestFilterMayUseInformer(t *testing.T) {
	for policy := range Unbounded + 1 {
		withHarness(t, "x@1", func(t *testing.T, th *harness) {
			var n, inner log
			var self *Registration[*lw.Object]
			removed := th.informer.Handle(Handler[*lw.Object]{}, nil)
			self = th.informer.Handle(n.handler(), &HandlerOptions[*lw.Object]{Policy: policy, Capacity: 1, Filter: func(o *lw.Object) bool {
				switch o.GetName() {
				case "handle":
					th.informer.Handle(inner.handler(), nil)
				case "remove":
					removed.Remove()
				case "wait":
					<-removed.Done()
				case "read":
					stored, ok := th.informer.Store().Get(lw.KeyOf(o))
					return ok && stored == o && self.Len() == 0
				case "leave":
					self.Remove()
				}
				return true
			}})
			th.run()
			th.deliver("+handle@3 +remove@4 +wait@5 +read@6")
			require.Equal(t, "+x@1! +handle@3 +remove@4 +wait@5 +read@6", n.take())
			require.ElementsMatch(t, []string{"+x@1!", "+handle@3!", "+remove@4", "+wait@5", "+read@6"}, strings.Fields(inner.take()))
			th.deliver("+leave@7 +y@8")
			synctest.Wait()
			require.True(t, isClosed(self.Done()))
			require.NotContains(t, n.take(), "y@8")
		})
	}
}
