package codec

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/builtin"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// deployment imitates appsv1.Deployment. The module e2e/clients runs tests with the real types of k8s.io/api.
type deployment struct {
	meta `json:"metadata"`
}

// registerDeployment makes the codecs treat *deployment as a pointer to the built-in Deployment of apps/v1.
func registerDeployment() {
	planOf(reflect.TypeFor[*deployment]()).elem.wire = newWireType(&builtin.Resource{Group: "apps", Version: "v1", Kind: "Deployment"})
}

func TestKindErrors(t *testing.T) {
	registerDeployment()
	const metadata = `"metadata":{"name":"a","namespace":"b","resourceVersion":"5"}`
	long := strings.Repeat("x", 1000)
	for members, found := range map[string]string{
		`"kind":"Deployment","apiVersion":"apps/v1",`:                 "",
		`"apiVersion":"apps/v1","kind":"Deployment",`:                 "",
		`"spec":{"kind":"Pod"},"kind" : "Deployment",`:                "",
		`"apiVersion":"apps/v1",`:                                     "",
		`"kind":"Deployment",`:                                        "",
		`"kind":null,"apiVersion":null,`:                              "",
		``:                                                            "",
		`"kind":"Pod","apiVersion":"v1",`:                             "v1 Pod",
		`"kind":"Deployment","apiVersion":"extensions/v1beta1",`:      "extensions/v1beta1 Deployment",
		`"kind":"DeploymentList","apiVersion":"apps/v1",`:             "apps/v1 DeploymentList",
		`"kind":"Pod",`:                                               "Pod",
		`"kind":"s3cret\n","apiVersion":"v1",`:                        "another kind",
		`"kind":"` + long + `","apiVersion":"apps/v1",`:               "another kind",
		`"kind":"Deployment","apiVersion":"apps/v1beta1","spec":"x",`: "apps/v1beta1 Deployment",
	} {
		_, err := watch(t, JSON[*deployment](nil), "{"+members+metadata+"}")
		object, parseErr := lw.ParseObject([]byte("{" + members + metadata + "}"))
		require.NoError(t, parseErr)
		textErr := Into(object, new(deployment))
		if found == "" {
			require.NoError(t, err, members)
			require.NoError(t, textErr, members)
			continue
		}
		field := "kind"
		if strings.HasSuffix(found, " Deployment") {
			field = "apiVersion"
		}
		fault, ok := errors.AsType[*fieldError](err)
		require.True(t, ok, members)
		require.Equal(t, field, fault.field)
		require.Equal(t, fault, textErr)
		require.EqualError(t, err, "object b/a at resourceVersion 5: field "+field+": expected apps/v1 Deployment "+
			"(the type that codec.ResourceOf lists for *codec.deployment), found "+found)
	}
}

// The item inherits the kind Pod, because its list is a PodList.
func TestKindErrorOfListItem(t *testing.T) {
	registerDeployment()
	objects, err := list(t, JSON[*deployment](nil), `{"metadata":{"name":"a"}}`)
	require.Empty(t, objects)
	require.ErrorContains(t, err, "found v1 Pod")
}

func TestKindIsCheckedWithoutAllocations(t *testing.T) {
	registerDeployment()
	for _, text := range []string{`{"kind":"Deployment","apiVersion":"apps/v1","spec":{}}`, `{"apiVersion":"apps/v1","kind":"Deployment","spec":{}}`} {
		object, err := lw.ParseObject([]byte(text))
		require.NoError(t, err)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			if planOf(reflect.TypeFor[*deployment]()).elem.wire.check(object, nil) != nil {
				t.Error("check rejected a Deployment")
			}
		}))
	}
}

func TestResourceOfCustomType(t *testing.T) {
	_, err := ResourceOf(&thing{}, "shop")
	require.EqualError(t, err, "codec: *codec.thing is not a pointer to a built-in Kubernetes type; use lw.ParseResource instead of ResourceOf")
}

type other struct {
	meta  `json:"metadata"`
	Count int `json:"count"`
}

// chosen is a codec that decodes each object into the value that `create` returns.
type chosen struct {
	lw.Codec[lw.Keyed]
	create func() lw.Keyed
}

func (c chosen) Decode(s *lw.Scanned) (lw.Keyed, error) {
	text, err := lw.RawCodec{}.Decode(s)
	if err != nil {
		return nil, err
	}
	object := c.create()
	return object, Into(text, object)
}

func TestCodecChoosesTypeAtRunTime(t *testing.T) {
	for _, into := range []lw.Keyed{&thing{}, &other{}} {
		create := func() lw.Keyed { return reflect.New(reflect.TypeOf(into).Elem()).Interface().(lw.Keyed) }
		items, err := list(t, chosen{JSON[lw.Keyed](nil), create}, `{"metadata":{"name":"a"},"int":1,"count":2},{"metadata":{"name":"b"}}`)
		require.NoError(t, err)
		require.Len(t, items, 2)
		require.IsType(t, into, items[0])
		require.NotSame(t, items[0], items[1])
		require.Equal(t, []string{"a", "b"}, []string{items[0].GetName(), items[1].GetName()})
	}
	_, err := watch(t, chosen{JSON[lw.Keyed](nil), func() lw.Keyed { return &other{} }}, `{"metadata":{"name":"a"},"count":"x"}`)
	require.ErrorContains(t, err, "field count: expected int, found a string")
	prefilled, err := watch(t, chosen{JSON[lw.Keyed](nil), func() lw.Keyed { return &other{Count: 7} }}, `{"metadata":{"name":"a"}}`)
	require.NoError(t, err)
	require.Equal(t, 7, prefilled.(*other).Count)

	registerDeployment()
	_, err = watch(t, chosen{JSON[lw.Keyed](nil), func() lw.Keyed { return &deployment{} }}, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`)
	require.ErrorContains(t, err, "field kind: expected apps/v1 Deployment")
}

func TestTypeMustBeAPointer(t *testing.T) {
	_, err := watch(t, JSON[lw.Keyed](nil), `{"metadata":{"name":"a"}}`)
	require.ErrorContains(t, err, "expected a pointer to a struct, found another type")
	object, err := lw.ParseObject([]byte(`{"metadata":{"name":"a"}}`))
	require.NoError(t, err)
	for _, pointer := range []any{nil, other{}, 7} {
		require.ErrorContains(t, Into(object, pointer), "expected a pointer to a struct, found another type")
	}
}

func TestResourceOfNilIsAnError(t *testing.T) {
	_, err := ResourceOf(nil, "shop")
	require.EqualError(t, err, "codec: nil is not a pointer to a built-in Kubernetes type; pass a pointer such as &corev1.Pod{}")
}
