// Command jsoniterator reads a list into maps with the Decoder of json-iterator, for bench/list.
package main

import (
	"context"
	"net/http"

	jsoniter "github.com/json-iterator/go"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/list/internal/task"
)

func main() {
	task.Main(map[string]func(context.Context, string) task.Held{"": read})
}

func read(ctx context.Context, url string) task.Held {
	url += "/api/v1/pods?resourceVersion=0&limit=500"
	request := harness.MustGet(http.NewRequestWithContext(ctx, http.MethodGet, url, nil))
	response := harness.MustGet(http.DefaultClient.Do(request))
	defer response.Body.Close()
	var list struct {
		Items []map[string]any `json:"items"`
	}
	harness.Must(jsoniter.ConfigCompatibleWithStandardLibrary.NewDecoder(response.Body).Decode(&list))
	pods := make(map[string]map[string]any)
	for _, item := range list.Items {
		metadata := item["metadata"].(map[string]any)
		pods[metadata["namespace"].(string)+"/"+metadata["name"].(string)] = item
	}
	return task.Held{N: len(pods), By: pods}
}
