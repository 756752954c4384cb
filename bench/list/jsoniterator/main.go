// Command jsoniterator reads a list as one would without an informer, for bench/list: the body through a Decoder into maps.
package main

import (
	"context"
	"net/http"

	jsoniter "github.com/json-iterator/go"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/bench/list/internal/task"
)

func main() {
	task.Main(map[string]func(context.Context, string) task.Held{"": read})
}

func read(ctx context.Context, url string) task.Held {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/v1/pods?resourceVersion=0&limit=500", nil)
	measure.Must(err)
	response, err := http.DefaultClient.Do(request)
	measure.Must(err)
	defer response.Body.Close()
	var list struct {
		Items []map[string]any `json:"items"`
	}
	measure.Must(jsoniter.ConfigCompatibleWithStandardLibrary.NewDecoder(response.Body).Decode(&list))
	pods := make(map[string]map[string]any)
	for _, item := range list.Items {
		metadata := item["metadata"].(map[string]any)
		pods[metadata["namespace"].(string)+"/"+metadata["name"].(string)] = item
	}
	return task.Held{N: len(pods), By: pods}
}
