package diff

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

func TestPatch(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`{"a":1}`, `{"a":1}`, `[]`},
		{`{"a":1}`, `{"a":2}`, `[{"op":"replace","path":"/a","value":2}]`},
		{`{"a":1,"x":null}`, `{"b":null,"x":null}`, `[{"op":"add","path":"/b","value":null},{"op":"remove","path":"/a"}]`},
		{`{"a/b":{"~":"<1>"}}`, `{"a/b":{"~":"<2>"}}`, `[{"op":"replace","path":"/a~1b/~0","value":"<2>"}]`},
		{`{"":1}`, `{"":2}`, `[{"op":"replace","path":"/","value":2}]`},
		{`[1,2,3]`, `[1,3]`, `[{"op":"remove","path":"/1"}]`},
		{`[1,2,3,4]`, `[1,9]`, `[{"op":"replace","path":"/1","value":9},{"op":"remove","path":"/3"},{"op":"remove","path":"/2"}]`},
		{`[1,3]`, `[1,2,2,3]`, `[{"op":"add","path":"/1","value":2},{"op":"add","path":"/2","value":2}]`},
		{`1`, `{}`, `[{"op":"replace","path":"","value":{}}]`},
		{`{"n":9007199254740992}`, `{"n":9007199254740993}`, `[{"op":"replace","path":"/n","value":9007199254740993}]`},
	} {
		require.Equal(t, c.want, Patch(value(t, c.old), value(t, c.new), Filter{}), "%s to %s", c.old, c.new)
	}
}

// TestPatchTransformsOldIntoNew checks random values and random changes.
func TestPatchTransformsOldIntoNew(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		before := randomValue(random, 4)
		after := before
		for range random.IntN(4) {
			after = mutate(random, after, 4)
		}
		old, new := text(t, before), text(t, after)
		patch := Patch(old, new, Filter{})
		require.JSONEq(t, string(new), string(text(t, apply(t, decode(t, string(old)), patch))), "%s\nby %s", old, patch)
		require.Equal(t, patch == "[]", len(Compare(old, new, Filter{})) == 0, "the patch and the diff disagree: %s to %s", old, new)
	}
}

// apply applies the operations add, remove and replace of a JSON Patch (RFC 6902).
func apply(t *testing.T, document any, patch string) any {
	var operations []struct {
		Op, Path string
		Value    json.RawMessage
	}
	require.NoError(t, json.Unmarshal([]byte(patch), &operations))
	for _, o := range operations {
		steps := strings.Split(o.Path, "/")[1:] // the path of the whole document is empty
		document = applyPatch(t, document, steps, o.Op, string(o.Value))
	}
	return document
}

func applyPatch(t *testing.T, at any, steps []string, op, value string) any {
	if len(steps) == 0 {
		return decode(t, value)
	}
	name := strings.NewReplacer("~1", "/", "~0", "~").Replace(steps[0])
	switch at := at.(type) {
	case map[string]any:
		old, there := at[name]
		require.Equal(t, op != "add" || len(steps) > 1, there, "%s %s", op, name)
		if op == "remove" && len(steps) == 1 {
			delete(at, name)
		} else {
			at[name] = applyPatch(t, old, steps[1:], op, value)
		}
		return at
	case []any:
		i, err := strconv.Atoi(name)
		require.NoError(t, err)
		switch {
		case len(steps) == 1 && op == "add":
			return append(at[:i:i], append([]any{decode(t, value)}, at[i:]...)...)
		case len(steps) == 1 && op == "remove":
			return append(at[:i:i], at[i+1:]...)
		}
		at[i] = applyPatch(t, at[i], steps[1:], op, value)
		return at
	}
	require.Fail(t, "a step into a leaf", "%s of %v", name, at)
	return nil
}

func decode(t *testing.T, text string) (v any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&v), text)
	return v
}

func text(t *testing.T, v any) lw.Value {
	bytes, err := json.Marshal(v)
	require.NoError(t, err)
	return lw.Value(bytes)
}

var names = []string{"a", "b", "name", "type", "", "/", "~", "~1", "x.y", "é\"\\"}

func randomValue(random *rand.Rand, depth int) any {
	switch n := random.IntN(9); {
	case n < 3 && depth > 0:
		object := map[string]any{}
		for range random.IntN(5) {
			object[names[random.IntN(len(names))]] = randomValue(random, depth-1)
		}
		return object
	case n < 6 && depth > 0:
		array := []any{}
		for range random.IntN(5) {
			array = append(array, randomValue(random, depth-1))
		}
		return array
	case n < 7:
		return names[random.IntN(len(names))]
	case n < 8:
		return []any{nil, true, false}[random.IntN(3)]
	}
	return json.Number(fmt.Sprint(random.Int64N(3) + 9007199254740992))
}

// mutate returns a value with one random change.
func mutate(random *rand.Rand, v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		copied := map[string]any{}
		for name, member := range v {
			copied[name] = member
		}
		name := names[random.IntN(len(names))]
		if _, there := v[name]; there && random.IntN(3) == 0 {
			delete(copied, name)
		} else if there {
			copied[name] = mutate(random, v[name], depth-1)
		} else {
			copied[name] = randomValue(random, depth-1)
		}
		return copied
	case []any:
		i := random.IntN(len(v) + 1)
		switch {
		case i == len(v) || random.IntN(3) == 0:
			return append(v[:i:i], append([]any{randomValue(random, depth-1)}, v[i:]...)...)
		case random.IntN(2) == 0:
			return append(v[:i:i], v[i+1:]...)
		}
		copied := append([]any{}, v...)
		copied[i] = mutate(random, v[i], depth-1)
		return copied
	}
	return randomValue(random, depth)
}
