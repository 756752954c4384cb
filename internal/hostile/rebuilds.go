package hostile

// Rebuild describes the server that clients find after a failure: the same server or a rebuilt server.
type Rebuild struct {
	Name string
	Does string // what clients find, for example "has lower resourceVersions"
	Same bool   // the server has only restarted, so clients must not relist

	format
	empty   bool // the server has no objects
	changed bool // objects change before the server is reachable again
}

// Rebuilds returns servers that have only restarted, and rebuilt servers whose history or objects differ from before.
// All objects on a rebuilt server have new UIDs. These cases matter in practice: after an etcd cluster was restored
// from a backup, clients of kube-apiserver kept outdated objects:
// https://github.com/kubernetes/kubernetes/issues/107457
func Rebuilds() []Rebuild {
	const higher, lower = 1_000_000, -500
	others := []string{"a-%04d"}
	return []Rebuild{
		{Name: "restarted", Does: "has the same objects", Same: true},
		{Name: "restarted and changed", Does: "has changed objects", Same: true, changed: true},
		{Name: "lower resourceVersions", Does: "has lower resourceVersions", format: format{shift: lower}},
		{Name: "higher resourceVersions", Does: "has higher resourceVersions", format: format{shift: higher}},
		{Name: "higher, other names", Does: "has other objects and higher resourceVersions", format: format{shift: higher, names: others}},
		{Name: "lower, other names", Does: "has other objects and lower resourceVersions", format: format{shift: lower, names: others}},
		{Name: "the same resourceVersions", Does: "has the same resourceVersions, but new UIDs"},
		{Name: "empty, lower resourceVersions", Does: "is empty and has lower resourceVersions", format: format{shift: lower}, empty: true},
		{Name: "empty, higher resourceVersions", Does: "is empty and has higher resourceVersions", format: format{shift: higher}, empty: true},
	}
}

// Resume makes the server reachable again, with the data that the Rebuild describes. The caller must make sure that no
// request is in progress, because Resume replaces the World without a lock.
func (s *Server) Resume(as *Rebuild) {
	if !as.Same {
		s.World = newWorld(2, as.format)
		s.era = "2"
	}
	for as.empty && len(s.latest()) > 0 {
		s.remove()
	}
	if as.changed {
		s.Step()
		s.remove()
	}
	s.comeUp()
}
