//go:build !js

package codec_test

import (
	"fmt"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
)

// ResourceOf knows only built-in types, for example codec.ResourceOf(&corev1.Pod{}, "default"). For other types, use
// lw.ParseResource.
func ExampleResourceOf() {
	_, err := codec.ResourceOf(&Widget{}, "default")
	fmt.Println(err)
	widgets, err := lw.ParseResource("widgets.v1.lw.example.com", "default")
	fmt.Println(widgets, err)
	// Output:
	// codec: *codec_test.Widget is not a pointer to a built-in Kubernetes type; use lw.ParseResource instead of ResourceOf
	// default/widgets.lw.example.com <nil>
}
