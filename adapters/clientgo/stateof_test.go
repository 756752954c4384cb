package clientgo

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lw"
)

func requirePhase(t *testing.T, informer cache.SharedInformer, phase lw.Phase) lw.State {
	t.Helper()
	eventually(t, func() bool {
		state, ok := StateOf(informer)
		return ok && state.Phase == phase
	})
	state, _ := StateOf(informer)
	return state
}

// During an outage, HasSynced remains true, so only StateOf shows that objects may be out of date. Saved objects
// are also out of date until the server confirms them.
func TestStateOfReportsOutages(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	putPod(t, server, "a", "n1")
	extras := Extras{StateDir: t.TempDir()}
	first := podInformerWith(t, server, extras)
	state, ok := StateOf(first)
	require.True(t, ok)
	require.Equal(t, lw.State{}, state)
	stop := start(t, first)
	requirePhase(t, first, lw.Live)
	server.Close()
	require.Error(t, requirePhase(t, first, lw.Stale).Cause)
	require.True(t, first.HasSynced())
	stop()
	requirePhase(t, first, lw.Stopped)

	second := podInformerWith(t, server, extras)
	start(t, second)
	eventually(t, func() bool { state, _ := StateOf(second); return state.Cause != nil })
	requirePhase(t, second, lw.Stale)
	require.Len(t, second.GetStore().List(), 1)
	require.False(t, second.HasSynced())
	require.NoError(t, server.Restart())
	require.NoError(t, requirePhase(t, second, lw.Live).Cause)
	require.True(t, second.HasSynced())
}

// client-go's typed factory wraps each informer in another type.
func TestStateOfInformerFromFactory(t *testing.T) {
	factory, err := NewSharedInformerFactory(&rest.Config{Host: "http://127.0.0.1"}, 0, nil)
	require.NoError(t, err)
	for _, informer := range []cache.SharedInformer{factory.Core().V1().Pods().Informer(), factory.InformerFor(&corev1.Pod{}, nil)} {
		_, ok := StateOf(informer)
		require.True(t, ok, "%T", informer)
	}
}

func TestStateOfForeignInformer(t *testing.T) {
	_, ok := StateOf(cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, nil))
	require.False(t, ok)
}
