package codec

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// body is a transport that always returns the same response.
type body string

func (b body) Open(context.Context, *lw.Request) (*lw.Response, error) {
	return &lw.Response{ReadCloser: io.NopCloser(strings.NewReader(string(b)))}, nil
}

// list returns the decoded items of a list response. items is the JSON between the brackets of the list's items array.
func list[T lw.Keyed](t *testing.T, codec lw.Codec[T], items string) (objects []T, err error) {
	return listWith(t, nil, codec, items)
}

func listWith[T lw.Keyed](t *testing.T, opts *lw.ClientOptions, codec lw.Codec[T], items string) (objects []T, err error) {
	client, err := lw.NewClient(body(`{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[`+items+`]}`), lw.Pods(""), codec, opts)
	require.NoError(t, err)
	page := client.List(t.Context(), lw.ListOptions{})
	for object, e := range page.Objects {
		if err = e; err == nil {
			objects = append(objects, object)
		}
	}
	return objects, err
}

// watch sends the JSON object in a watch event, and returns the object that codec decodes from it.
func watch[T lw.Keyed](t *testing.T, codec lw.Codec[T], object string) (got T, err error) {
	client, err := lw.NewClient(body(`{"type":"ADDED","object":`+object+"}\n"), lw.Pods(""), codec, nil)
	require.NoError(t, err)
	for event, e := range client.Watch(t.Context(), lw.ListOptions{}) {
		if err = e; event.Type == lw.Added {
			got = event.Object
		}
	}
	return got, err
}

func TestListedAndWatchedObjectsAreEqual(t *testing.T) {
	const members = `"metadata":{"name":"a","namespace":"b","resourceVersion":"1","labels":{"app":"web"},` +
		`"managedFields":[{"manager":"kubelet"}]},"any":{"large":9007199254740993}`
	listed, err := list(t, JSON[*thing](nil), "{"+members+"}")
	require.NoError(t, err)
	watched, err := watch(t, JSON[*thing](nil), `{"kind":"Pod","apiVersion":"v1",`+members+"}")
	require.NoError(t, err)
	require.Equal(t, watched, listed[0])
	require.Equal(t, TypeMeta{Kind: "Pod", APIVersion: "v1"}, watched.TypeMeta)
	require.Equal(t, map[string]string{"app": "web"}, watched.Labels)
	require.Equal(t, map[string]any{"large": int64(9007199254740993)}, watched.Any)
	require.Nil(t, watched.ManagedFields)

	kept, err := listWith(t, &lw.ClientOptions{KeepManagedFields: true}, JSON[*thing](nil), "{"+members+"}")
	require.NoError(t, err)
	require.Len(t, kept[0].ManagedFields, 1)
}

func TestObjectsOutliveBuffer(t *testing.T) {
	item := func(c string) string {
		return `{"metadata":{"name":"` + c + `","labels":{"` + c + `":"` + c + `"}},"string":"` + strings.Repeat(c, 10000) +
			`","raw":"` + c + `","bytes":"` + strings.Repeat(c, 4) + `","any":{"` + c + `":["` + c + `"]},"number":1}`
	}
	var items []string
	for c := 'a'; c <= 'z'; c++ {
		items = append(items, item(string(c)))
	}
	objects, err := list(t, JSON[*thing](nil), strings.Join(items, ","))
	require.NoError(t, err)
	require.Len(t, objects, len(items))
	for i, object := range objects {
		want := new(thing)
		require.NoError(t, json.Unmarshal([]byte(items[i]), want))
		want.TypeMeta = TypeMeta{Kind: "Pod", APIVersion: "v1"}
		require.Equal(t, want, object)
	}
}

func TestConcurrentUse(t *testing.T) {
	codec := JSON[*concurrently](nil)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				object, err := watch(t, codec, `{"metadata":{"name":"a"},"spec":{"replicas":3}}`)
				if err != nil || object.Spec.Replicas != 3 {
					t.Error(object, err)
				}
			}
		})
	}
	all.Wait()
}

// concurrently is decoded only by TestConcurrentUse, so that the goroutines of that test race to create the type's
// decoder.
type concurrently struct {
	meta `json:"metadata"`
	Spec struct {
		Replicas int `json:"replicas"`
	} `json:"spec"`
}

func TestTransform(t *testing.T) {
	codec := JSON(func(object *thing) *thing {
		object.Labels = nil
		return object
	})
	object, err := watch(t, codec, `{"metadata":{"name":"a","labels":{"large":"text"}},"int":3}`)
	require.NoError(t, err)
	require.Nil(t, object.Labels)
	require.Equal(t, 3, object.Int)

	codec = JSON(func(object *thing) *thing {
		object.Name = ""
		return object
	})
	_, err = watch(t, codec, `{"metadata":{"name":"a"}}`)
	require.ErrorContains(t, err, "field metadata.name: expected GetName to return this field, found another value")
}

// forgetful lacks the tag json:"metadata", so its metadata is not decoded.
type forgetful struct{ Metadata meta }

func (f *forgetful) GetNamespace() string       { return f.Metadata.Namespace }
func (f *forgetful) GetName() string            { return f.Metadata.Name }
func (f *forgetful) GetResourceVersion() string { return f.Metadata.ResourceVersion }

func TestStructsWithoutMetadataAreRejected(t *testing.T) {
	_, err := list(t, JSON[*forgetful](nil), `{"metadata":{"name":"a","resourceVersion":"1"}}`)
	fault, ok := errors.AsType[*fieldError](err)
	require.True(t, ok)
	require.Equal(t, "metadata.name", fault.field)
}

func TestFieldErrors(t *testing.T) {
	const long = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	for _, test := range []struct{ members, want string }{
		{`"int":"s3cret"`, "field int: expected int, found a string"},
		{`"int8":128`, "field int8: expected int8, found a number that does not fit"},
		{`"int":1.5`, "field int: expected int, found a number that does not fit"},
		{`"uint":-1`, "field uint: expected uint, found a number that does not fit"},
		{`"any":1e999`, "field any: expected interface {}, found a number that does not fit"},
		{`"any":{"a":[1,{"b":1e999}]}`, "field any.a[1].b: expected interface {}, found a number that does not fit"},
		{`"string":{"s3cret":1}`, "field string: expected string, found an object"},
		{`"bool":null,"string":true`, "field string: expected string, found a boolean"},
		{`"struct":["s3cret"]`, "field struct: expected codec.small, found an array"},
		{`"structs":[{"a":1},{"b":"x","next":{"a":"s3cret"}}]`, "field structs[1].next.a: expected int, found a string"},
		{`"mapStruct":{"x.y/z":{"a":"s3cret"}}`, `field mapStruct.x\.y/z.a: expected int, found a string`},
		{`"mapInt":{"s3cret":true}`, "field mapInt: expected map[int16]bool, found an object with an invalid key"},
		{`"map":{"` + long + long + long + long + `":1}`, "field map: expected map[string]string, found an object that contains a number"},
		{`"map":{"s3\ncret":1}`, "field map: expected map[string]string, found an object that contains a number"},
		{`"time":"s3cret"`, "field time: expected time.Time, found a string"},
		{`"timePtr":7`, "field timePtr: expected time.Time, found a number"},
		{`"custom":[7]`, "field custom: expected codec.intOrString, found an array"},
		{`"customs":{"a":1,"b":{"s3cret":1}}`, "field customs.b: expected codec.intOrString, found an object"},
		{`"text":"quiet s3cret"`, "field text: expected codec.shout, found a string"},
		{`"bytes":"s3cret"`, "field bytes: expected []uint8, found a string that is not base64"},
		{`"quoted":7`, "field quoted: expected int64, found a number"},
		{`"quoted":" 7"`, "field quoted: expected int64, found a string"},
		{`"error":"s3cret"`, "field error: expected error, found a string"},
		{`"inlined":7`, "field inlined: expected string, found a number"},
		{`"mapInt":{"5":"s3cret"}`, "field mapInt.5: expected bool, found a string"},
		{`"bytes":[1,"s3cret"]`, "field bytes[1]: expected uint8, found a string"},
		{`"anys":[1,[1e999]]`, "field anys[1][0]: expected interface {}, found a number that does not fit"},
	} {
		_, err := watch(t, JSON[*thing](nil), `{"metadata":{"name":"a","namespace":"b","resourceVersion":"5"},`+test.members+"}")
		require.EqualError(t, err, "object b/a at resourceVersion 5: "+test.want)
		wrapped, ok := err.(*lw.DecodeError)
		require.True(t, ok)
		require.IsType(t, &fieldError{}, wrapped.Err)
		require.Nil(t, errors.Unwrap(wrapped.Err))
	}
}

type alwaysFails struct{ meta }

func (*alwaysFails) UnmarshalJSON([]byte) error { return errors.New("s3cret") }

func TestUnmarshalJSONErrorsAreOmitted(t *testing.T) {
	_, err := watch(t, JSON[*alwaysFails](nil), `{"metadata":{"name":"a"}}`)
	require.EqualError(t, err, "object a at resourceVersion : the object: expected codec.alwaysFails, found an object")
}

// Kubernetes decodes duplicate members like encoding/json. A null leaves strings and numbers unchanged, and structs and
// maps are merged. For other values, the last one counts.
func TestDuplicateMembersAgreeWithEncodingJSON(t *testing.T) {
	some := []string{"null", "true", "1", `"x"`, `"5"`, `""`, `"\"s\""`, "[]", "[1]", `["x"]`, "[1,2]", `[{"a":1},{"b":"y"}]`, `[{"b":"x"}]`, "{}", `{"a":1}`, `{"a":{"b":1}}`, `{"b":"y"}`, `{"a":null}`, `{"5":true}`}
	for _, name := range fields {
		for _, first := range some {
			for _, second := range some {
				text := []byte(`{"` + name + `":` + first + `,"` + name + `":` + second + "}")
				object, err := lw.ParseObject(text)
				if err != nil {
					continue // the scanner requires strings for kind and apiVersion
				}
				got, want := new(thing), new(thing)
				err = Into(object, got)
				if decodeLikeKubernetes(text, want) != nil {
					require.Error(t, err, "%s", text)
					continue
				}
				require.NoError(t, err, "%s", text)
				require.Equal(t, want, got, "%s", text)
			}
		}
	}
}

func TestMemberNamesAreCaseSensitive(t *testing.T) {
	got, err := watch(t, JSON[*thing](nil), `{"Metadata":{"name":"b"},"metadata":{"name":"a","Name":"b","NAMESPACE":"b","resourceversion":"9"},"INT":1,"int":2,"Int":3,"untagged":4,"struct":{"A":5}}`)
	require.NoError(t, err)
	require.Equal(t, lw.Key{Name: "a"}, lw.KeyOf(got))
	require.Empty(t, got.ResourceVersion)
	require.Equal(t, thing{meta: got.meta, Int: 2}, *got)
}
