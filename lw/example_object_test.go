package lw_test

import (
	"errors"
	"fmt"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// An Object gives access to the metadata of its JSON text.
func ExampleObject() {
	pod, err := lw.ParseObject([]byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"shop","name":"web-0","resourceVersion":"7",` +
		`"labels":{"app":"web"},"ownerReferences":[{"kind":"ReplicaSet","name":"web","uid":"r1","controller":true}]}}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(pod, "is", lw.KeyOf(pod))
	app, ok := pod.Label("app")
	fmt.Println(app, ok)
	for owner := range pod.Get("metadata.ownerReferences").Elements() {
		fmt.Println(owner.Get("kind"), owner.Get("name"), owner.Get("controller").Bool())
	}
	// Output:
	// Pod shop/web-0@7 is shop/web-0
	// web true
	// ReplicaSet web true
}

// A Value decodes fields on demand.
func ExampleValue() {
	spec, err := lw.ParseValue([]byte(`{"replicas":3,"paused":false,"containers":[{"name":"web","image":"nginx"},{"name":"mesh"}],"empty":null}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(spec.Get("replicas").Int(), spec.Get("paused").Bool(), spec.Get("containers[0].image"))
	for container := range spec.Get("containers").Elements() {
		fmt.Println(container.Get("name"), container.Get("image").Exists())
	}
	for name, value := range spec.Members() {
		fmt.Print(name, " has ", len(value.Raw()), " bytes; ")
	}
	// Output:
	// 3 false nginx
	// web true
	// mesh false
	// replicas has 1 bytes; paused has 5 bytes; containers has 48 bytes; empty has 4 bytes;
}

// Only decimal resourceVersions have an order.
func ExampleCompareResourceVersions() {
	fmt.Println(lw.CompareResourceVersions("9", "10"))
	fmt.Println(lw.CompareResourceVersions("10", "a7"))
	// Output:
	// -1 true
	// 0 false
}

// A Resource identifies a collection or one object in it.
func ExampleResource() {
	fmt.Println(lw.Pods("shop"))
	fmt.Println(lw.Resource{Group: "apps", Version: "v1", Plural: "deployments"})
	fmt.Println(lw.Resource{Version: "v1", Plural: "configmaps", Namespace: "shop", Name: "settings"})
	fmt.Println(lw.Resource{Raw: "/apis/lw.example.com/v1/widgets"})
	// Output:
	// shop/pods
	// deployments.apps
	// shop/configmaps/settings
	// /apis/lw.example.com/v1/widgets
}

// A Key identifies an object, for example in a map.
func ExampleKey() {
	pod, err := lw.ParseObject([]byte(`{"metadata":{"namespace":"shop","name":"web-0"}}`))
	if err != nil {
		panic(err)
	}
	restarts := map[lw.Key]int{{Namespace: "shop", Name: "web-0"}: 2}
	fmt.Println(restarts[lw.KeyOf(pod)], lw.KeyOf(pod))
	// Output: 2 shop/web-0
}

// The error contains the byte offset of the mistake.
func ExampleProject_malformed() {
	_, err := lw.Project("metadata.labels", "spec.containers[0].image")
	fmt.Println(err)
	// Output:
	// lw: path "spec.containers[0].image": expected [*] instead of an index at byte 15
}

// The error text does not contain the secret.
func ExampleParseObject_secret() {
	_, err := lw.ParseObject([]byte(`{"metadata":{"name":"token"},"data":{"password":s3cret}}`))
	fmt.Println(errors.Is(err, lw.ErrInvalidResponse))
	fmt.Println(err)
	// Output:
	// true
	// malformed response at byte 48: expected a value, found 's'
}
