package clientgo

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// watched is a fake transport whose watch sends these objects.
type watched []string

func (w watched) Open(context.Context, *lw.Request) (*lw.Response, error) {
	var events strings.Builder
	for _, object := range w {
		events.WriteString(`{"type":"ADDED","object":` + object + "}\n")
	}
	return &lw.Response{ReadCloser: io.NopCloser(strings.NewReader(events.String()))}, nil
}

// stored sends the objects in texts, which are JSON, as watch events. It returns a new informer that has received the
// events, and the objects that the informer stores.
func stored(t *testing.T, example runtime.Object, extras Extras, texts ...string) (*informerType, []*object) {
	informer := NewSharedIndexInformerWithOptions(&cache.ListWatch{}, example, InformerOptions{Extras: extras}).(*informerType)
	resource := lw.Resource{Version: "v1", Plural: "configmaps"}
	client, err := lw.NewClient(watched(texts), resource, informer.codec, &lw.ClientOptions{KeepManagedFields: !extras.DropManagedFields})
	require.NoError(t, err)
	var found []*object
	for event, err := range client.Watch(t.Context(), lw.ListOptions{}) {
		require.NoError(t, err)
		if event.Type == lw.Added {
			found = append(found, event.Object)
		}
	}
	require.Len(t, found, len(texts))
	return informer, found
}

// fieldsOf is a value of fieldsV1.
const fieldsOf = `{"f:data":{".":{},"f:first":{},"f:second":{}},"f:metadata":{"f:labels":{".":{},"k:{\"uid\":\"1\"}":{}}}}`

func configMap(managed string) string {
	return `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"shop","resourceVersion":"5","uid":"u-1",` +
		managed + `,"labels":{"app":"web"}},"data":{"first":"{}"}}`
}

// The store must keep fieldsV1 outside an object's text if that saves memory. In each case, the whole text and the
// decoded struct must be the same as if the object had been stored whole.
func TestManagedFieldsAreRestored(t *testing.T) {
	for name, test := range map[string]struct {
		managed string
		slim    bool
	}{
		"value in the middle":             {`"managedFields":[{"manager":"m","fieldsV1":` + fieldsOf + `,"time":"2026-01-01T00:00:00Z"}]`, true},
		"value at the end":                {`"managedFields":[{"manager":"m","fieldsV1":` + fieldsOf + `}]`, true},
		"value before similar name":       {`"managedFields":[{"fieldsV1":` + fieldsOf + `,"fieldsType":"FieldsV1"}]`, true},
		"only member":                     {`"managedFields":[{"fieldsV1":` + fieldsOf + `}]`, true},
		"white space":                     {`"managedFields" : [ { "manager" : "m" , "fieldsV1" : ` + fieldsOf + ` , "time" : null } ]`, true},
		"several entries":                 {`"managedFields":[{"manager":"m"},{"fieldsV1":` + fieldsOf + `},{"manager":"n","fieldsV1":{"f:x":{}}},{"fieldsV1":` + fieldsOf + `,"manager":"o"}]`, true},
		"empty object in the value":       {`"managedFields":[{"fieldsV1":{"a":{},"` + strings.Repeat("b", minCut) + `":{}}}]`, true},
		"short value":                     {`"managedFields":[{"manager":"m","fieldsV1":{"f:x":{}}}]`, false},
		"no entries":                      {`"managedFields":[]`, false},
		"not an array":                    {`"managedFields":{"fieldsV1":` + fieldsOf + `}`, false},
		"null entry":                      {`"managedFields":[null,{"fieldsV1":` + fieldsOf + `}]`, true},
		"null next to a value":            {`"managedFields":[{"fieldsV1":null},{"fieldsV1":` + fieldsOf + `}]`, true},
		"Unicode escape":                  {`"managedFields":[{"fieldsV1":{"f:\u00e9":{},"` + strings.Repeat("b", minCut) + `":{}}}]`, false},
		"malformed UTF-8":                 {`"managedFields":[{"fieldsV1":{"f:` + "\xff" + `":{},"` + strings.Repeat("b", minCut) + `":{}}}]`, false},
		"repeated value":                  {`"managedFields":[{"fieldsV1":` + fieldsOf + `,"fieldsV1":` + fieldsOf + `}]`, true},
		"repeated managedFields":          {`"managedFields":[{"fieldsV1":` + fieldsOf + `}],"managedFields":[{"fieldsV1":` + fieldsOf + `}]`, true},
		"repeated managedFields, shorter": {`"managedFields":[{"fieldsV1":` + fieldsOf + `},{}],"managedFields":[{"fieldsV1":` + fieldsOf + `}]`, true},
	} {
		t.Run(name, func(t *testing.T) {
			text := configMap(test.managed)
			whole, err := lw.ParseObject([]byte(text))
			require.NoError(t, err)
			for _, example := range []runtime.Object{&corev1.ConfigMap{}, &metav1.PartialObjectMetadata{}} {
				informer, objects := stored(t, example, Extras{}, text, text)
				require.IsType(t, &lw.Object{}, objects[0].encoded, "the store must not share a value that has occurred once")
				o := objects[1]
				_, slim := o.encoded.(*slim)
				require.Equal(t, test.slim, slim)
				require.Equal(t, text, o.Raw())
				require.Equal(t, "shop/a u-1 5", o.Key().String()+" "+o.GetUID()+" "+o.GetResourceVersion())
				want, wantErr := informer.decoder.decode(whole)
				got, err := informer.decoder.decode(o.encoded)
				require.Equal(t, wantErr == nil, err == nil)
				require.Equal(t, want, got)
				for key, value := range labelsOf(o) {
					require.Equal(t, "app=web", key+"="+value)
				}
			}
		})
	}
}

// Equal values of different objects must use the same memory, but readers must get their own copies.
func TestObjectsShareFieldsV1(t *testing.T) {
	managed := `"managedFields":[{"manager":"m","fieldsV1":` + fieldsOf + `}]`
	text := configMap(managed)
	informer, objects := stored(t, &corev1.ConfigMap{}, Extras{}, text, strings.Replace(text, `"5"`, `"6"`, 1), strings.Replace(text, `"5"`, `"7"`, 1))
	a, b := objects[1].encoded.(*slim), objects[2].encoded.(*slim)
	require.Len(t, a.Object.Raw(), len(text)-len(fieldsOf)+len(empty))
	require.True(t, a.cuts[0].value == b.cuts[0].value)
	read := func() []byte {
		decoded, err := informer.decoder.decode(a)
		require.NoError(t, err)
		return decoded.(*corev1.ConfigMap).ManagedFields[0].FieldsV1.GetRawBytes()
	}
	read()[0] = 'x'
	require.Equal(t, fieldsOf, string(read()))
}

// With each of these options or types, objects must keep their whole text. A projection already drops managed fields,
// compression already shares their text among objects, and an unstructured object has no FieldsV1 to restore.
func TestOtherObjectsKeepTheirText(t *testing.T) {
	text := configMap(`"managedFields":[{"manager":"m","fieldsV1":` + fieldsOf + `}]`)
	all := func(runtime.Object) []string { return []string{"metadata", "data"} }
	_, objects := stored(t, &corev1.ConfigMap{}, Extras{Fields: all}, text, text)
	require.IsType(t, &lw.Object{}, objects[1].encoded)
	_, objects = stored(t, &unstructured.Unstructured{}, Extras{}, text, text)
	require.IsType(t, &lw.Object{}, objects[1].encoded)
	_, objects = stored(t, &corev1.ConfigMap{}, Extras{Compress: true}, text, text)
	require.IsType(t, packed{}, objects[1].encoded)
}
