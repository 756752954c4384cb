package clientgo

import (
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// runUntil runs an informer for Pods until its handler has received these events. It returns the stopped informer. A
// handler receives objects before the list is complete, so runUntil also waits for its end. Otherwise nothing would be saved.
func runUntil(t *testing.T, server *lwtest.Server, extras Extras, events ...string) cache.SharedIndexInformer {
	informer := podInformerWith(t, server, extras)
	var handler recorder
	_, err := informer.AddEventHandler(&handler)
	require.NoError(t, err)
	stop := start(t, informer)
	handler.wait(t, events...)
	waitSynced(t, informer.HasSyncedChecker())
	stop()
	return informer
}

// lists returns the number of lists that the server has received, except for checks, which request a single object.
func lists(server *lwtest.Server) int {
	return len(server.Requests(func(r lwtest.Request) bool {
		return r.Verb == "list" && r.URL.Query().Get("limit") != "1" || r.URL.Query().Has("sendInitialEvents")
	}))
}

func TestResumesFromSavedState(t *testing.T) {
	for name, extras := range map[string]Extras{"plain": {}, "compressed": {Compress: true}} {
		t.Run(name, func(t *testing.T) {
			extras.StateDir = filepath.Join(t.TempDir(), "new", "folder")
			server := startServer(t)
			putPod(t, server, "a", "n1")
			runUntil(t, server, extras, "add a@n1 true")
			putPod(t, server, "a", "n2")
			putPod(t, server, "b", "n1")
			require.NoError(t, server.Delete("pods", "shop", "a"))
			listed := lists(server)
			runUntil(t, server, extras, "add a@n1 true", "update a@n1 a@n2", "add b@n1 false", "delete a@n2")
			require.Equal(t, listed, lists(server))
		})
	}
}

// Restored objects must be stored as if the server had sent them, that is, compressed.
func TestRestoredObjectsAreCompressed(t *testing.T) {
	extras := Extras{StateDir: t.TempDir(), Compress: true}
	server := startServer(t)
	putPod(t, server, "a", "n1")
	runUntil(t, server, extras, "add a@n1 true")
	listed := lists(server)
	informer := runUntil(t, server, extras, "add a@n1 true")
	require.Equal(t, listed, lists(server))
	o, ok := informer.(*informerType).inner.Store().Get(lw.Key{Namespace: "shop", Name: "a"})
	require.True(t, ok)
	require.IsType(t, packed{}, o.encoded)
}

// An informer must not restore objects that were saved with other fields, because these objects lack the fields that it
// needs.
func TestRestoresOnlyObjectsWithTheSameFields(t *testing.T) {
	server := startServer(t)
	putLabeledPod(t, server, "a")
	folder := t.TempDir()
	read := func(path string) *corev1.Pod {
		informer := podInformerWith(t, server, Extras{StateDir: folder, Fields: func(runtime.Object) []string { return []string{path} }})
		stop := start(t, informer)
		waitSynced(t, informer.HasSyncedChecker())
		stop()
		return getPod(t, informer, "shop/a")
	}
	require.Equal(t, map[string]string{"app": "web"}, read("metadata.labels").Labels)
	require.Equal(t, "n1", read("spec.nodeName").Spec.NodeName)
	listed := lists(server)
	require.Equal(t, map[string]string{"app": "web"}, read("metadata.labels").Labels)
	require.Equal(t, listed, lists(server))
}

// The informer must apply its transform to restored JSON. TestSavesPeriodically checks the same with protobuf.
func TestTransformsRestoredJSON(t *testing.T) {
	for name, extras := range map[string]Extras{"plain": {}, "compressed": {Compress: true}} {
		t.Run(name, func(t *testing.T) {
			extras.StateDir = t.TempDir()
			server := startServer(t)
			putPod(t, server, "a", "n1")
			runUntil(t, server, extras, "add a@n1 true")
			listed := lists(server)
			informer := podInformerWith(t, server, extras)
			require.NoError(t, informer.SetTransform(func(obj any) (any, error) {
				obj.(*corev1.Pod).Spec.NodeName = "transformed"
				return obj, nil
			}))
			var handler recorder
			_, err := informer.AddEventHandler(&handler)
			require.NoError(t, err)
			start(t, informer)
			handler.wait(t, "add a@transformed true")
			require.Equal(t, listed, lists(server))
		})
	}
}

// If the saved resourceVersion has expired, the informer must report only the differences.
func TestResumesAfterExpiry(t *testing.T) {
	t.Parallel()
	extras := Extras{StateDir: t.TempDir()}
	server := startServer(t)
	putPod(t, server, "a", "n1")
	putPod(t, server, "b", "n1")
	first := podInformerWith(t, server, extras)
	stop := start(t, first)
	waitSynced(t, first.HasSyncedChecker())
	stop()
	require.NoError(t, server.Delete("pods", "shop", "a"))
	putPod(t, server, "c", "n1")
	server.Compact()
	informer := podInformerWith(t, server, extras)
	require.NoError(t, informer.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
	var handler recorder
	_, err := informer.AddEventHandler(&handler)
	require.NoError(t, err)
	start(t, informer)
	eventually(t, func() bool { return len(handler.all()) == 4 })
	require.ElementsMatch(t, []string{"add a@n1 true", "add b@n1 true"}, handler.all()[:2])
	require.Equal(t, []string{"add c@n1 false", "delete tombstone shop/a a@n1"}, handler.all()[2:])
}

func TestDamagedStateIsReported(t *testing.T) {
	extras := Extras{StateDir: t.TempDir()}
	server := startServer(t)
	putPod(t, server, "a", "n1")
	runUntil(t, server, extras, "add a@n1 true")
	files, err := os.ReadDir(extras.StateDir)
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Regexp(t, `^api-v1-pods-[0-9a-f]{16}\.state$`, files[0].Name())
	require.NoError(t, os.WriteFile(filepath.Join(extras.StateDir, files[0].Name()), []byte("damaged"), 0o600))
	failures := reportedErrors(t)
	listed := lists(server)
	runUntil(t, server, extras, "add a@n1 true")
	require.Len(t, failures(), 1)
	require.Contains(t, failures()[0], "savefile: restore from")
	require.Greater(t, lists(server), listed)
}

// The informer must work without the folder, and report that it can neither restore nor save its objects.
func TestStateDirThatCannotBeCreated(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	server := startServer(t)
	putPod(t, server, "a", "n1")
	failures := reportedErrors(t)
	runUntil(t, server, Extras{StateDir: filepath.Join(file, "folder")}, "add a@n1 true")
	require.Len(t, failures(), 2)
	require.Contains(t, failures()[0], "not a directory")
	require.Contains(t, failures()[1], "savefile: save to")
}

func TestEachTypeHasItsOwnFile(t *testing.T) {
	server := startServer(t)
	putPod(t, server, "a", "n1")
	extras := Extras{StateDir: t.TempDir()}
	runUntil(t, server, extras, "add a@n1 true")
	extras.DropManagedFields = true
	runUntil(t, server, extras, "add a@n1 true")
	other := NewSharedIndexInformerWithOptions(listerOf(t, server, "pods"), &counted{}, InformerOptions{Extras: extras})
	stop := start(t, other)
	waitSynced(t, other.HasSyncedChecker())
	stop()
	files, err := os.ReadDir(extras.StateDir)
	require.NoError(t, err)
	require.Len(t, files, 3)
}

// TestSavesPeriodically checks that the file is written while the informer runs. The next informer must apply its
// transform to the saved objects.
func TestSavesPeriodically(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		server := protobufPods{[]corev1.Pod{protobufPod("a")}, new(atomic.Int32)}
		_, stop := simulate(t, server, func(i *informer) { i.extras.StateDir = folder })
		files, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Len(t, files, 1)
		stop()
	})
	synctest.Test(t, func(t *testing.T) {
		informer, stop := simulate(t, noServer{}, func(i *informer) {
			i.extras.StateDir = folder
			require.NoError(t, i.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
			require.NoError(t, i.SetTransform(func(obj any) (any, error) {
				obj.(*corev1.Pod).Spec.NodeName = "transformed"
				return obj, nil
			}))
		})
		pod := getPod(t, informer, "shop/a")
		want := protobufPod("a")
		want.Spec.NodeName = "transformed"
		require.Equal(t, &want, pod)
		stop()
	})
}

type noServer struct{}

func (noServer) RoundTrip(*http.Request) (*http.Response, error) { return nil, errReset }
