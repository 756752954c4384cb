package cache

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// labelled has the GetLabels method of the generated Kubernetes types.
type labelled struct {
	versioned
	labels map[string]string
}

func (l labelled) GetLabels() map[string]string { return l.labels }

func selected[T lw.Keyed](t *testing.T, lister *Lister[T], namespace, selector string) (found []string) {
	t.Helper()
	objects, err := lister.Select(namespace, selector)
	require.NoError(t, err, selector)
	for _, object := range objects {
		found = append(found, object.GetName())
	}
	return found
}

func TestSelect(t *testing.T) {
	structs, structWriter := NewStore(nil, lw.Identity[labelled]{})
	interfaces, interfaceWriter := NewStore(nil, lw.Identity[lw.Keyed]{})
	objects, objectWriter := NewStore(nil, lw.Identity[*lw.Object]{})
	for name, text := range map[string]string{"a": `{"app":"web","tier":"front"}`, "b": `{"app":"db"}`, "c": `{}`} {
		labels := map[string]string{}
		require.NoError(t, json.Unmarshal([]byte(text), &labels))
		object := labelled{versioned{name: name}, labels}
		structWriter.Put(object)
		interfaceWriter.Put(object)
		o, err := lw.ParseObject([]byte(`{"metadata":{"name":"` + name + `","namespace":"n","labels":` + text + `}}`))
		require.NoError(t, err)
		objectWriter.Put(o)
	}
	for selector, want := range map[string][]string{
		"":                      {"a", "b", "c"},
		"app=web":               {"a"},
		"app!=web":              {"b", "c"},
		"app in (web, db)":      {"a", "b"},
		"app notin (web)":       {"b", "c"},
		"!app":                  {"c"},
		"app,tier!=front":       {"b"},
		"app=web,tier in (x,y)": nil,
	} {
		require.ElementsMatch(t, want, selected(t, NewLister(structs), "", selector), selector)
		require.ElementsMatch(t, want, selected(t, NewLister(interfaces), "", selector), selector)
		require.ElementsMatch(t, want, selected(t, NewLister(objects), "n", selector), selector)
		require.Empty(t, selected(t, NewLister(objects), "m", selector), selector)
	}
}

func TestSelectErrors(t *testing.T) {
	store, writer := NewStore(nil, lw.Identity[versioned]{})
	lister := NewLister(store)
	_, err := lister.Select("", "app=web=db")
	require.EqualError(t, err, `cache: label selector: unable to parse requirement: "app=web=db", at "=db"`)
	writer.Put(versioned{name: "a"})
	_, err = lister.Select("", "app=web")
	require.EqualError(t, err, "cache: Lister.Select needs objects with a method GetLabels() map[string]string")
}
