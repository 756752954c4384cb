package lwtest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// get sends a GET request and prints the status code, kind and reason of the response.
func get(url, token string) {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		panic(err)
	}
	defer res.Body.Close()
	var body struct {
		Kind, Reason string
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		panic(err)
	}
	if err := json.Unmarshal(text, &body); err != nil {
		panic(err)
	}
	if body.Reason != "" {
		body.Kind += " " + body.Reason
	}
	fmt.Println(res.StatusCode, body.Kind)
}

// A token allows either all requests or none. Unknown tokens are rejected.
func ExampleOptions() {
	server, err := lwtest.Start(&lwtest.Options{Tokens: map[string]bool{"admin": true, "nobody": false}})
	if err != nil {
		panic(err)
	}
	defer server.Close()
	get(server.URL+"/api/v1/pods", "admin")
	get(server.URL+"/api/v1/pods", "nobody")
	get(server.URL+"/api/v1/pods", "somebody")
	// Output:
	// 200 PodList
	// 403 Status Forbidden
	// 401 Status Unauthorized
}

// This example defines a custom resource, uses it and removes it.
func ExampleServer_customResource() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	const definitions = "customresourcedefinitions.apiextensions.k8s.io"
	if _, err := server.Put(definitions, `{"metadata": {"name": "orders.shop.example.com"}, "spec": {
		"group": "shop.example.com", "scope": "Namespaced", "names": {"plural": "orders", "kind": "Order"}, "versions": [
			{"name": "v1", "served": true, "storage": true,
				"additionalPrinterColumns": [{"name": "Total", "type": "integer", "jsonPath": ".spec.total"}]}]}}`); err != nil {
		panic(err)
	}
	order, err := server.Put("orders.shop.example.com", `{"metadata":{"name":"first"},"spec":{"total":3}}`)
	if err != nil {
		panic(err)
	}
	fmt.Println(lw.KeyOf(order), "at resourceVersion", order.GetResourceVersion())
	get(server.URL+"/apis/shop.example.com/v1/namespaces/default/orders", "")
	if err := server.Delete(definitions, "", "orders.shop.example.com"); err != nil {
		panic(err)
	}
	_, err = server.Put("orders.shop.example.com", `{"metadata":{"name":"second"}}`)
	fmt.Println(err)
	// Output:
	// default/first at resourceVersion 3
	// 200 OrderList
	// the server answered 404 NotFound: the server does not have a resource "orders.shop.example.com"
}

// This custom fault fails every second list.
func ExampleFault() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	n := 0
	refuse := lwtest.Refuse(&lw.StatusError{Code: http.StatusServiceUnavailable, Reason: "ServiceUnavailable"})
	server.Fail(lwtest.Lists, -1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if n++; n%2 == 0 {
			refuse(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
	get(server.URL+"/api/v1/pods", "")
	get(server.URL+"/api/v1/pods", "")
	get(server.URL+"/api/v1/pods", "")
	fmt.Println(len(server.Requests(lwtest.Lists)), "lists")
	// Output:
	// 200 PodList
	// 503 Status ServiceUnavailable
	// 200 PodList
	// 3 lists
}

// Server methods return the same errors that an HTTP client receives.
func ExampleServer_Delete() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	err = server.Delete("pods", "default", "web-0")
	fmt.Println(errors.Is(err, lw.ErrNotFound), err)
	// Output: true the server answered 404 NotFound: pods "web-0" not found
}
