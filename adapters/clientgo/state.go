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

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/seed-6d2a410a/listwatch/cache/savefile"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// saveInterval is the time between two saves of an informer's objects.
const saveInterval = time.Minute

// keepState restores an informer's objects from its file and then saves them every saveInterval. The caller must
// call stop after the informer has stopped, so that the last save contains the last event.
//
// The file name depends on what changes the saved objects: the server, the collection, the selectors, the Go type, the
// fields and DropManagedFields, but not the transform, because functions cannot be compared. It also depends on Compress,
// because an informer with Compress could not restore saved protobuf.
func keepState(ctx context.Context, i *informer, c *collection) (stop func()) {
	// A type prints as "*v1.Pod", so origin also contains the package path. Only the struct has one, not the pointer.
	origin := fmt.Sprintln(c.server, c.path, c.query,
		i.decoder.example.Elem().PkgPath(), i.decoder.example, i.decoder.fields, i.extras.DropManagedFields, i.extras.Compress)
	sum := sha256.Sum256([]byte(origin)) // eight bytes suffice, because Restore also compares origin with that in the file
	path := filepath.Join(i.extras.StateDir, fmt.Sprintf("%s-%x.state", strings.ReplaceAll(strings.Trim(c.path, "/"), "/", "-"), sum[:8]))
	err := os.MkdirAll(i.extras.StateDir, 0o700)
	if err == nil {
		err = savefile.Restore(path, i.inner, origin, i.codec.parse)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		utilruntime.HandleErrorWithContext(ctx, err, "cannot restore the saved state; the informer lists the objects instead")
	}
	keeping, end := context.WithCancel(context.WithoutCancel(ctx))
	var saving sync.WaitGroup
	saving.Go(func() {
		savefile.Keep(keeping, path, i.inner.Store(), origin, (*object).Raw, saveInterval, func(err error) {
			utilruntime.HandleErrorWithContext(ctx, err, "cannot save the objects")
		})
	})
	return func() {
		end()
		saving.Wait()
	}
}

// parse decodes a saved object and applies the transform, because the file contains the object before the transform if its
// result has another Go type. Otherwise the transform receives its own result.
func (c *objectCodec) parse(text []byte) (*object, error) {
	if isJSON(text) || !c.protobuf() {
		parsed, err := lw.ParseObject(text)
		if err != nil {
			return nil, err
		}
		// Decode(nil) then processes this object as if it had just been decoded: it compresses and transforms it.
		c.text.parsed = parsed
		defer func() { c.text.parsed = nil }()
		return c.Decode(nil)
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
