package hostile

import (
	"fmt"
	"strconv"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/internal/revlog"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// order records a fault if the stream's resourceVersion decreases without a relist.
func (j *judge) order(e lw.Event[*lw.Object]) {
	if e.ResourceVersion == "" || e.Type == lw.Interrupted {
		return
	}
	if order, ok := lw.CompareResourceVersions(e.ResourceVersion, j.version); ok && order < 0 {
		j.fault("the %v event has resourceVersion %q, which is older than the previous resourceVersion %q", e.Type, e.ResourceVersion, j.version)
	}
	j.version = e.ResourceVersion
}

// fold applies changes to j.held. It records a fault if a change contradicts an object's earlier changes.
func (j *judge) fold(changes []cache.Change[*lw.Object]) {
	for _, d := range changes {
		object := d.New
		if d.Type == lw.Deleted {
			object = d.Old
		}
		_, held := j.held[lw.KeyOf(object)]
		if held != (d.Type != lw.Added) {
			j.fault("the %v change for %v contradicts the earlier changes (object known: %v)", d.Type, object, held)
		}
		if j.held[lw.KeyOf(object)] = object; d.Type == lw.Deleted {
			delete(j.held, lw.KeyOf(object))
		}
	}
}

// compare records a fault if the store differs from the server's state at the store's resourceVersion.
func (j *judge) compare(e lw.Event[*lw.Object]) {
	snapshot := j.store.Snapshot()
	if snapshot.Len() != len(j.held) || j.store.Len() != len(j.held) {
		j.fault("the store has %d objects, but its changes result in %d objects", snapshot.Len(), len(j.held))
	}
	if !j.trust || snapshot.ResourceVersion() == "" {
		return
	}
	revision, known := j.world.revisionOf(snapshot.ResourceVersion())
	if !known {
		j.fault("after the %v event, the store has resourceVersion %q, but the server never sent this resourceVersion", e.Type, snapshot.ResourceVersion())
	} else if diff := differ(snapshot, j.world.at(revision)); diff != "" {
		j.fault("after the %v event, the store differs from the server at resourceVersion %q: %s", e.Type, snapshot.ResourceVersion(), diff)
	}
}

// difference describes how the store differs from the server's latest state. Tests call it for every second of
// simulated time. To save time, it returns the previous result if neither the store nor the server can have changed
// since then.
func (j *judge) difference() string {
	if revision := j.world.now(); !j.compared.Equal(j.heard) || j.comparedTo != revision {
		j.compared, j.comparedTo, j.differs = j.heard, revision, differ(j.store.Snapshot(), j.world.latest())
	}
	return j.differs
}

// differ describes how a snapshot differs from the server's state. It returns "" if they are equal.
func differ(snapshot *cache.Snapshot[*lw.Object], entries []revlog.Entry[int]) string {
	for _, e := range entries {
		object, ok := snapshot.Get(lw.Key{Namespace: namespace, Name: e.Key})
		if !ok {
			return e.Key + " is missing"
		}
		if v := object.Get("data.v").String(); v != strconv.Itoa(e.Value) {
			return fmt.Sprintf("%s has the content of revision %s instead of revision %d", e.Key, v, e.Value)
		}
	}
	if snapshot.Len() != len(entries) {
		return fmt.Sprintf("the store has %d objects instead of %d", snapshot.Len(), len(entries))
	}
	return ""
}

// rates records a fault if there are too many requests or too many lists in any time window.
func (j *judge) rates() {
	var paid []time.Time
	var lists []*request
	for _, r := range j.requests {
		if !r.free {
			paid = append(paid, r.at)
		}
		if r.cost > 0 {
			lists = append(lists, r)
		}
	}
	for i := range paid {
		for k := i; k < len(paid); k++ {
			if w := paid[k].Sub(paid[i]); float64(k-i+1) > 12+w.Seconds() {
				j.fault("too many requests: %d in %v, starting at %v", k-i+1, w, paid[i].Format("15:04:05"))
				return
			}
		}
	}
	for i := range lists {
		objects := 0
		for k := i; k < len(lists) && lists[k].at.Sub(lists[i].at) < time.Minute; k++ {
			if objects += lists[k].cost; objects >= 5*j.large {
				j.fault("too many lists: %d with %d objects in %v, starting at %v", k-i+1, objects, lists[k].at.Sub(lists[i].at), lists[i].at.Format("15:04:05"))
				return
			}
		}
	}
}
