package clients

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// write makes n random changes, alternating between the resources.
func (c *course) write(n int) {
	c.Helper()
	resources := slices.Sorted(maps.Keys(paths))
	for range n {
		c.writes++
		resource := resources[c.writes%len(resources)]
		namespace, name := fmt.Sprintf("ns-%d", c.random.IntN(4)), fmt.Sprintf("object-%d", c.random.IntN(60))
		_, there := c.server.State(resource)
		_, exists := there[namespace+"/"+name]
		var err error
		if exists && c.random.IntN(3) == 0 {
			err = c.server.Delete(resource, namespace, name)
		} else {
			_, err = c.server.Put(resource, c.object(resource, namespace, name))
		}
		require.NoError(c, err)
	}
}

// tricky contains strings that are difficult to encode as JSON, or that a buffer boundary can split inside a character.
var tricky = []string{
	"", "plain", "line\nbreak\r\n", `"quotes" \ and / slashes`, "</script>&\u2028\u2029", "\x00\x1f\x7f",
	"grüße, 世界, 🚢", strings.Repeat("long and growing, ", 500),
}

func (c *course) object(resource, namespace, name string) map[string]any {
	text := tricky[c.random.IntN(len(tricky))]
	object := map[string]any{"metadata": map[string]any{
		"namespace": namespace, "name": name, "annotations": map[string]any{"text": text},
	}}
	if resource == "configmaps" {
		object["data"] = map[string]any{"text": text, "write": fmt.Sprint(c.writes)}
		return object
	}
	object["spec"] = map[string]any{
		"write": c.writes, "large": int64(1)<<53 + int64(c.writes), "small": c.random.Float64(), "whole": 1.0, "huge": 1e21,
		"nothing": nil, "empty": []any{}, "nested": []any{map[string]any{"text": text}, true},
	}
	return object
}
