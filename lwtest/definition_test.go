package lwtest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/stretchr/testify/require"
)

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

const orders = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"orders.shop.example.com"},"spec":{
	"group":"shop.example.com","scope":"Cluster","names":{"plural":"orders","singular":"order","kind":"Order","shortNames":["od"]},"versions":[
	{"name":"v1","served":true,"storage":false},
	{"name":"v2","served":true,"storage":true,"additionalPrinterColumns":[{"name":"Total","type":"integer","jsonPath":".spec.total"}]}]}}`

func TestDefinitionServesResource(t *testing.T) {
	s := start(t, nil)
	require.Equal(t, http.StatusCreated, request(t, "POST", s.URL+definitionsPath, orders).Code)
	require.Equal(t, []string{"orders.shop.example.com"}, get(t, s.URL+definitionsPath).list(t).names())
	require.Contains(t, get(t, s.URL+"/apis/shop.example.com/v2").Body,
		`{"kind":"Order","name":"orders","namespaced":false,"shortNames":["od"],"singularName":"order","verbs":`)
	path := s.URL + "/apis/shop.example.com/v2/orders"
	require.Equal(t, http.StatusCreated, request(t, "POST", path, `{"metadata":{"name":"a"},"spec":{"total":3}}`).Code)
	table := get(t, path, asTable...).table(t)
	require.Equal(t, "Total", table.ColumnDefinitions[1].Name)
	require.Equal(t, []any{"a", 3.0}, table.Rows[0].Cells)
	require.Equal(t, http.StatusNotFound, get(t, s.URL+"/apis/shop.example.com/v1/orders").Code)

	require.Equal(t, http.StatusOK, request(t, "DELETE", s.URL+definitionsPath+"/orders.shop.example.com", "").Code)
	require.Equal(t, http.StatusNotFound, get(t, path).Code)
	require.Equal(t, http.StatusCreated, request(t, "POST", s.URL+definitionsPath, orders).Code)
	require.Empty(t, get(t, path).list(t).Items)
}

func TestChangedDefinitionEndsWatches(t *testing.T) {
	s := start(t, nil)
	define(t, s, orders)
	w := openWatch(t, s.URL+"/apis/shop.example.com/v2/orders?watch=1")
	patch := func(body string) {
		a := request(t, "PATCH", s.URL+definitionsPath+"/orders.shop.example.com", body, "Content-Type", "application/merge-patch+json")
		require.Equal(t, http.StatusOK, a.Code, a.Body)
	}
	patch(`{"metadata":{"labels":{"a":"b"}}}`)
	_, err := s.Put("orders.shop.example.com", `{"metadata":{"name":"a"}}`)
	require.NoError(t, err)
	w.expect("ADDED a") // a new label does not end the watch
	patch(`{"spec":{"versions":[{"name":"v3","served":true,"storage":true}]}}`)
	require.NoError(t, w.end())
	require.Equal(t, []string{"a"}, get(t, s.URL+"/apis/shop.example.com/v3/orders").list(t).names())
}

func TestDefinitionReplacesResource(t *testing.T) {
	s := start(t, nil)
	define(t, s, sample.Definition("pods", "v1", "Pod", ""))
	require.Equal(t, http.StatusOK, get(t, s.URL+"/api/v1/pods").Code)
	require.NoError(t, s.Delete(definitions, "", "pods"))
	require.Equal(t, http.StatusNotFound, get(t, s.URL+"/api/v1/pods").Code)
}

func TestInvalidDefinitionIsRejected(t *testing.T) {
	s := start(t, nil)
	for _, definition := range []string{
		`{"metadata":{"name":"orders.shop.example.com"}}`,
		strings.Replace(orders, `"plural":"orders"`, `"plural":"carts"`, 1),
		strings.Replace(orders, `"kind":"Order"`, `"kind":""`, 1),
		strings.Replace(orders, `"storage":true`, `"storage":false`, 1),
		strings.Replace(orders, `"scope":"Cluster"`, `"scope":1`, 1),
	} {
		require.Equal(t, http.StatusBadRequest, request(t, "POST", s.URL+definitionsPath, definition).Code, definition)
	}
	require.Empty(t, get(t, s.URL+definitionsPath).list(t).Items)
	require.Equal(t, http.StatusNotFound, get(t, s.URL+"/apis/shop.example.com/v2/orders").Code)
}
