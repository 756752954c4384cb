package codec_test

import (
	"testing"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
	"github.com/stretchr/testify/require"
)

// namedUID imitates types.UID of Kubernetes.
type namedUID string

type objectMeta struct {
	Name, ResourceVersion string
	UID                   namedUID
}

func (*objectMeta) GetNamespace() string         { return "" }
func (m *objectMeta) GetName() string            { return m.Name }
func (m *objectMeta) GetResourceVersion() string { return m.ResourceVersion }
func (m *objectMeta) GetUID() namedUID           { return m.UID }

// generated inherits its methods from an embedded struct, as the types of k8s.io/api do.
type generated struct{ objectMeta }

// odd has a GetUID method with a different signature, so it does not provide a UID.
type odd struct{ generated }

func (*odd) GetUID(length int) namedUID { return "" }

// recreate puts first and second into a store under the same key. It returns the types of the changes that the second
// Put returns.
func recreate[T lw.Keyed](first, second T) (types []lw.EventType) {
	_, w := cache.NewStore(nil, codec.JSON[T](nil).Identity())
	w.Put(first)
	for _, change := range w.Put(second) {
		types = append(types, change.Type)
	}
	return types
}

func TestChangedUIDMeansRecreation(t *testing.T) {
	state := func(version string, uid namedUID) *generated { return &generated{objectMeta{"x", version, uid}} }
	both, one := []lw.EventType{lw.Deleted, lw.Added}, []lw.EventType{lw.Modified}
	require.Equal(t, both, recreate(state("1", "a"), state("2", "b")))
	require.Equal(t, one, recreate(state("1", "a"), state("2", "a")))
	require.Equal(t, one, recreate(state("1", "a"), state("2", "")))
	require.Equal(t, one, recreate(&odd{*state("1", "a")}, &odd{*state("2", "b")}))
	require.Equal(t, both, recreate[lw.Keyed](state("1", "a"), state("2", "b")))
	require.Equal(t, one, recreate[lw.Keyed](state("1", "a"), state("2", "a")))
	require.Equal(t, one, recreate[lw.Keyed](state("1", "a"), &odd{*state("2", "b")}))
}

// plainThing has no GetUID method, so only its field contains the UID.
type plainThing struct {
	Metadata struct {
		Name            string   `json:"name"`
		UID             namedUID `json:"uid,omitempty"`
		ResourceVersion string   `json:"resourceVersion"`
	} `json:"metadata"`
}

func (*plainThing) GetNamespace() string         { return "" }
func (t *plainThing) GetName() string            { return t.Metadata.Name }
func (t *plainThing) GetResourceVersion() string { return t.Metadata.ResourceVersion }

func TestUIDFieldSufficesToDetectRecreation(t *testing.T) {
	state := func(version string, uid namedUID) *plainThing {
		thing := new(plainThing)
		thing.Metadata.Name, thing.Metadata.UID, thing.Metadata.ResourceVersion = "x", uid, version
		return thing
	}
	require.Equal(t, []lw.EventType{lw.Deleted, lw.Added}, recreate(state("1", "a"), state("2", "b")))
	require.Equal(t, []lw.EventType{lw.Modified}, recreate(state("1", "a"), state("2", "a")))
	require.Equal(t, []lw.EventType{lw.Deleted, lw.Added}, recreate[lw.Keyed](state("1", "a"), state("2", "b")))
}
