package lw_test

import (
	"fmt"

	"github.com/seed-6d2a410a/listwatch/lw"
)

func ExampleParseResource() {
	for _, name := range []string{"pods", "deployments.apps", "widgets.v1.example.com"} {
		resource, err := lw.ParseResource(name, "shop")
		if err != nil {
			panic(err)
		}
		fmt.Println(resource, resource.Version)
	}
	// Output:
	// shop/pods v1
	// shop/deployments.apps v1
	// shop/widgets.example.com v1
}

// A custom resource needs a version and a group.
func ExampleParseResource_custom() {
	_, err := lw.ParseResource("widgets.example.com", "shop")
	fmt.Println(err)
	// Output:
	// lw: resource "widgets.example.com" is not built in, so it needs a version; use a name such as "widgets.v1.example.com"
}
