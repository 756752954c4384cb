package serve

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

func TestListsAreJSON(t *testing.T) {
	var list struct{ Items []any }
	require.NoError(t, json.Unmarshal(List(sample.Pods(1, 3), "5"), &list))
	require.Len(t, list.Items, 3)
}

func TestTemplatesReplaceTheResourceVersion(t *testing.T) {
	template := NewTemplate(`{"metadata":{"resourceVersion":"5","uid":"5"}}`, "5")
	require.Equal(t, `x{"metadata":{"resourceVersion":"12","uid":"5"}}`, string(template.Append([]byte("x"), 12)))
	require.Equal(t, len(template.Append(nil, 12))-2, template.Size())
}

func TestOrdersReachEveryWatch(t *testing.T) {
	orders := NewOrders[string]()
	first, second := orders.Next(), orders.Next()
	orders.Give("a")
	orders.Give("b")
	for _, order := range []*Order[string]{first, second} {
		<-order.Given
		require.Equal(t, "a", order.Value)
		<-order.Next.Given
		require.Equal(t, "b", order.Next.Value)
	}
	select {
	case <-orders.Next().Given:
		t.Fatal("Next must return an element that Give has not filled")
	default:
	}
}
