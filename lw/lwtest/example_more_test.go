package lwtest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
)

// get prints the status and the beginning of a response.
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

// A token grants full or no access. Unknown tokens are rejected.
func ExampleOptions() {
	server, err := lwtest.Start(&lwtest.Options{Tokens: map[string]lwtest.Access{"admin": lwtest.FullAccess, "nobody": lwtest.NoAccess}})
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

// Serve a custom resource from AddResource until RemoveResource.
func ExampleResource() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	server.AddResource(lwtest.Resource{
		Group: "shop.example.com", Kind: "Order", Plural: "orders", Namespaced: true,
		Columns: []lwtest.Column{{Name: "Total", Type: "integer", Path: ".spec.total"}}, // columns of kubectl get
	})
	order, err := server.Create("orders.shop.example.com", `{"metadata":{"name":"first"},"spec":{"total":3}}`)
	if err != nil {
		panic(err)
	}
	fmt.Println(order.Key, "at resourceVersion", order.ResourceVersion)
	get(server.URL+"/apis/shop.example.com/v1/namespaces/default/orders", "")
	server.RemoveResource("orders.shop.example.com")
	_, err = server.Create("orders.shop.example.com", `{"metadata":{"name":"second"}}`)
	fmt.Println(err)
	// Output:
	// default/first at resourceVersion 2
	// 200 OrderList
	// 404 NotFound: the server does not have a resource "orders.shop.example.com"
}

// Write a custom fault: every second list fails as on an overloaded server.
func ExampleFault() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	n := 0
	refuse := lwtest.Refuse(lwtest.Status{Code: http.StatusServiceUnavailable, Reason: "ServiceUnavailable"})
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

// Errors of the server's Go methods are the Status that a client would get.
func ExampleStatus() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	err = server.Delete("pods", "default", "web-0")
	fmt.Println(err.(*lwtest.Status).Code, err.(*lwtest.Status).Reason)
	// Output: 404 NotFound
}

// Serve a hundred thousand objects. The server stores only their names and renders an object when a response contains
// it.
func ExampleMade() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	err = server.PlayMade("pods", func(yield func(lwtest.Made) bool) {
		for n := range 100_000 {
			name := fmt.Sprint("pod-", n)
			more := yield(lwtest.Made{Namespace: "shop", Name: name, UID: name, JSON: func(version string) []byte {
				return fmt.Appendf(nil, `{"metadata":{"namespace":"shop","name":%q,"uid":%[1]q,"resourceVersion":%[2]q}}`, name, version)
			}})
			if !more {
				return
			}
		}
	})
	if err != nil {
		panic(err)
	}
	get(server.URL+"/api/v1/namespaces/shop/pods/pod-77777", "")
	// Output: 200 Pod
}
