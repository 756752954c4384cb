package scenarios

import (
	"bytes"
	"net/http"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// resumesFromSavedState checks that an informer resumes from saved objects without a list. If the saved resourceVersion
// has expired, it relists and reports only the differences.
func resumesFromSavedState(r *run) {
	r.create(20, "cm-")
	f := r.follow(ConfigMaps(r.ns), r.AdminToken, nil, nil)
	f.equal(r.configMaps())
	f.stop()
	state := f.save()
	r.write(http.MethodDelete, r.configMaps("cm-0"), "")
	r.write(http.MethodPatch, r.configMaps("cm-1"), `{"data":{"k":"changed"}}`)
	r.create(2, "new-")

	resumed := r.restored(state)
	resumed.equal(r.configMaps())
	require.Zero(r, resumed.syncs)
	require.Zero(r, resumed.lists())
	require.Len(r, resumed.changes, 20+1+1+2)
	resumed.stop()

	r.disturb(r.Expire)
	late := r.restored(state)
	late.equal(r.configMaps())
	require.Equal(r, 1, late.broke(is(lw.ErrExpired)))
	require.Equal(r, 1, late.syncs)
	require.Len(r, late.changes, 20+1+1+2, "the informer must report only the differences")
	require.Equal(r, 1, late.missed())
}

func (f *follower) origin() string { return f.URL + " " + f.ns + "/configmaps" }

func (f *follower) save() []byte {
	var state bytes.Buffer
	require.NoError(f, cache.Save(&state, f.informer.Store().Snapshot(), f.origin(), (*lw.Object).Raw))
	return state.Bytes()
}

// restored starts a follower for the scenario's ConfigMaps that resumes from state, as returned by save.
func (r *run) restored(state []byte) *follower {
	f := r.follower(ConfigMaps(r.ns), r.AdminToken, nil, nil)
	require.NoError(r, f.informer.Restore(bytes.NewReader(state), f.origin(), lw.ParseObject))
	f.start()
	return f
}

// lists returns how many lists, including streaming lists, the follower has requested. It leaves out checks, which
// request a single object.
func (f *follower) lists() int {
	return f.link.requests("watch", "") + f.link.requests("sendInitialEvents", "true") - f.link.requests("limit", "1")
}
