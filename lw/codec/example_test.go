//go:build !js

package codec_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/seed-6d2a410a/listwatch/transport/http"
)

// Metadata holds the fields that the methods of lw.Keyed return.
type Metadata struct {
	Namespace       string `json:"namespace,omitempty"`
	Name            string `json:"name"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

func (m *Metadata) GetNamespace() string       { return m.Namespace }
func (m *Metadata) GetName() string            { return m.Name }
func (m *Metadata) GetResourceVersion() string { return m.ResourceVersion }

// Widget has only the fields that this program reads.
type Widget struct {
	Metadata `json:"metadata"`
	Spec     struct {
		Size int64 `json:"size"`
	} `json:"spec"`
}

// JSON decodes the objects of a collection into structs. For the types of k8s.io/api, write codec.JSON[*corev1.Pod](nil).
func ExampleJSON() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	create := func(widget string) {
		if _, err := server.Put("widgets.lw.example.com", widget); err != nil {
			panic(err)
		}
	}
	create(`{"metadata":{"name":"small"},"spec":{"size":1,"color":"red"}}`)

	transport, err := http.New(server.URL, nil)
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	widgets := lw.Resource{Group: "lw.example.com", Version: "v1", Plural: "widgets", Namespace: "default"}
	client, err := lw.NewClient(transport, widgets, codec.JSON[*Widget](nil), nil)
	if err != nil {
		panic(err)
	}
	for event := range lw.ListAndWatch(context.Background(), client, nil) {
		switch event.Type {
		case lw.Added:
			fmt.Println(event.Object.Name, event.Object.Spec.Size)
		case lw.WatchStarted:
			create(`{"metadata":{"name":"large"},"spec":{"size":9007199254740993}}`)
			create(`{"metadata":{"name":"wrong"},"spec":{"size":"huge"}}`)
		case lw.DecodeFailed: // the stream continues with the other objects
			fmt.Println(event.Err)
			return
		}
	}
	// Output:
	// small 1
	// large 9007199254740993
	// object default/wrong at resourceVersion 4: field spec.size: expected int64, found a string
}

// A program can keep objects as JSON and decode them only when needed. Use encoding/json to encode them.
func ExampleInto() {
	object, err := lw.ParseObject([]byte(`{"metadata":{"name":"w","namespace":"default"},"spec":{"size":1}}`))
	if err != nil {
		panic(err)
	}
	var widget Widget
	if err := codec.Into(object, &widget); err != nil {
		panic(err)
	}
	widget.Spec.Size++
	text, err := json.Marshal(widget)
	fmt.Println(string(text), err)
	// Output:
	// {"metadata":{"namespace":"default","name":"w"},"spec":{"size":2}} <nil>
}

// The error names the field but does not contain its value.
func ExampleInto_error() {
	object, err := lw.ParseObject([]byte(`{"metadata":{"name":"w"},"spec":{"size":"s3cret"}}`))
	if err != nil {
		panic(err)
	}
	err = codec.Into(object, new(Widget))
	fmt.Println(err)
	// Output:
	// field spec.size: expected int64, found a string
}
