package clientgo

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"weak"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	lwcache "github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/savefile"
)

// saveInterval is the time between two saves of an informer's objects.
const saveInterval = time.Minute

// state saves the objects of an informer to a file and restores them.
type state struct {
	informer *informer
	path     string
	origin   string
	saved    weak.Pointer[lwcache.Snapshot[*object]] // weak, because a snapshot keeps deleted objects in memory
}

// newState returns the state of an informer. It does not read the file. The file name depends on the collection, the
// selectors, the Go type, the fields and Compress, because compression cannot read protobuf.
func newState(i *informer, c *collection) *state {
	s := &state{informer: i, origin: fmt.Sprintln(c.server, c.path, c.query,
		i.decoder.example.Elem().PkgPath(), i.decoder.example, i.decoder.fields, i.extras.DropManagedFields, i.extras.Compress)}
	sum := sha256.Sum256([]byte(s.origin))
	s.path = filepath.Join(i.extras.StateDir, fmt.Sprintf("%s-%x.state", strings.ReplaceAll(strings.Trim(c.path, "/"), "/", "-"), sum[:8]))
	return s
}

// keep restores the objects, and then saves them every saveInterval until ctx is done. It returns a func that saves the
// objects one last time. The caller must call this func after ctx is done.
func (s *state) keep(ctx context.Context) (stop func()) {
	if err := s.restore(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		utilruntime.HandleErrorWithContext(ctx, err, "cannot restore the saved state; the informer lists the objects instead")
	}
	var saving sync.WaitGroup
	saving.Go(func() {
		tick := time.NewTicker(saveInterval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.save(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		saving.Wait()
		s.save(ctx)
	}
}

func (s *state) restore() error {
	if err := os.MkdirAll(s.informer.extras.StateDir, 0o700); err != nil {
		return err
	}
	return savefile.Restore(s.path, s.informer.inner, s.origin, s.informer.codec.parse)
}

// save writes the file if the objects have changed since the last save.
func (s *state) save(ctx context.Context) {
	snapshot := s.informer.inner.Store().Snapshot()
	if weak.Make(snapshot) == s.saved || snapshot.ResourceVersion() == "" {
		return
	}
	if err := savefile.Save(s.path, snapshot, s.origin, (*object).Raw); err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "cannot save the objects")
		return
	}
	s.saved = weak.Make(snapshot)
}

// parse decodes a saved object and applies the transform again.
func (c *objectCodec) parse(text []byte) (*object, error) {
	if len(text) > 0 && text[0] == '{' || !c.protobuf() {
		return c.decodeSaved(text)
	}
	made, err := c.decoder.decode(&message{raw: string(text)})
	if err != nil {
		return nil, err
	}
	m, err := messageOf(text, made)
	if err != nil {
		return nil, err
	}
	return c.keep(&object{encoded: m})
}
