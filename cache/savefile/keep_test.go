package savefile

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// keeper runs Keep with an interval of one minute.
type keeper struct {
	*testing.T
	path   string
	store  *cache.Store[*lw.Object]
	writer *cache.Writer[*lw.Object]
	errs   []error // errors that Keep reported
	stop   func()  // cancels the context and waits until Keep has returned
}

func startKeep(t *testing.T, path string) *keeper {
	k := &keeper{T: t, path: path}
	k.store, k.writer = cache.NewStore(nil, lw.Identity[*lw.Object]{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		Keep(ctx, path, k.store, origin, (*lw.Object).Raw, time.Minute, func(err error) { k.errs = append(k.errs, err) })
	}()
	k.stop = func() {
		cancel()
		<-done
	}
	return k
}

// replace replaces the store's content with one object and returns the object's JSON.
func (k *keeper) replace(version string) string {
	object, err := lw.ParseObject([]byte(`{"metadata":{"name":"web-0","resourceVersion":"` + version + `"}}`))
	require.NoError(k, err)
	k.writer.Replace(version, object)
	return object.Raw()
}

func (k *keeper) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestKeepSavesChangedStateAtInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := startKeep(t, filepath.Join(t.TempDir(), "pods"))
		k.pass(5 * time.Minute)
		require.NoFileExists(t, k.path, "an incomplete state cannot be restored")
		seven := k.replace("7")
		k.pass(30 * time.Second)
		require.NoFileExists(t, k.path)
		k.pass(30 * time.Second)
		require.Equal(t, seven, held(t, k.path))
		require.NoError(t, os.Remove(k.path))
		k.pass(5 * time.Minute)
		require.NoFileExists(t, k.path, "an unchanged state must not be saved again")
		eight := k.replace("8")
		k.pass(time.Minute)
		require.Equal(t, eight, held(t, k.path))
		k.stop()
		require.Empty(t, k.errs)
	})
}

func TestKeepSavesWhenContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := startKeep(t, filepath.Join(t.TempDir(), "pods"))
		seven := k.replace("7")
		k.stop()
		require.Equal(t, seven, held(t, k.path))
		require.Empty(t, k.errs)
	})
}

// Keep must report each failure, and save at the next interval even if the state did not change again.
func TestKeepReportsErrorsAndRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "missing")
		k := startKeep(t, filepath.Join(folder, "pods"))
		seven := k.replace("7")
		k.pass(2 * time.Minute)
		require.Len(t, k.errs, 2)
		require.ErrorIs(t, k.errs[0], os.ErrNotExist)
		require.NoError(t, os.Mkdir(folder, 0o700))
		k.pass(time.Minute)
		require.Equal(t, seven, held(t, k.path))
		require.NoError(t, os.RemoveAll(folder))
		k.replace("8")
		k.stop()
		require.Len(t, k.errs, 3, "Keep must report the error of the last save")
	})
}

// Keep must not hold the last saved snapshot in memory, because a snapshot refers to objects that have been deleted since.
func TestKeepFreesDeletedObjects(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "pods")
	store, writer := cache.NewStore(nil, lw.Identity[*lw.Object]{})
	freed := make(chan struct{})
	put := func(name string, watch bool) {
		object, err := lw.ParseObject([]byte(`{"metadata":{"name":"` + name + `","resourceVersion":"7"}}`))
		require.NoError(t, err)
		if watch {
			runtime.AddCleanup(object, func(struct{}) { close(freed) }, struct{}{})
		}
		writer.Replace("7", object)
	}
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	put("web-0", true)
	ctx, cancel := context.WithCancel(t.Context())
	saved, done := make(chan struct{}, 100), make(chan struct{})
	go func() {
		defer close(done)
		Keep(ctx, path, store, origin, func(o *lw.Object) string { saved <- struct{}{}; return o.Raw() }, time.Millisecond, func(error) {})
	}()
	<-saved
	require.Eventually(t, func() bool { _, err := os.Stat(path); return err == nil }, time.Minute, time.Millisecond)
	require.NoError(t, os.RemoveAll(filepath.Dir(path))) // later saves fail
	put("web-1", false)
	put("web-2", false)
	require.Eventually(t, func() bool {
		runtime.GC()
		select {
		case <-freed:
			return true
		default:
			return false
		}
	}, time.Minute, time.Millisecond)
	cancel()
	<-done
	runtime.KeepAlive(store)
}
