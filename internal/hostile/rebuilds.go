package hostile

import (
	"fmt"
	"strconv"
)

// Rebuild describes the server that clients find after a failure: the same one or a rebuilt one.
type Rebuild struct {
	Name string
	Same bool // the server has only restarted, so clients must not relist

	version func(revision int) string // returns the resourceVersion for a revision
	naming  func(nth int) string      // returns the name of the nth object
	empty   bool                      // whether the server has no objects
	changed bool                      // whether objects change before the server is reachable again
}

// Rebuilds returns servers that have only restarted, and rebuilt servers whose history or objects differ from
// before. All objects on a rebuilt server have new UIDs.
func Rebuilds() []Rebuild {
	higher := func(revision int) string { return strconv.Itoa(revision + 1_000_000) }
	lower := func(revision int) string { return strconv.Itoa(revision - 500) }
	others := func(nth int) string { return fmt.Sprintf("a-%04d", nth) }
	return []Rebuild{
		{Name: "restarted", Same: true},
		{Name: "restarted and changed", Same: true, changed: true},
		{Name: "lower resourceVersions", version: lower},
		{Name: "higher resourceVersions", version: higher},
		{Name: "higher, other names", version: higher, naming: others},
		{Name: "lower, other names", version: lower, naming: others},
		{Name: "the same resourceVersions", version: strconv.Itoa},
		{Name: "empty, lower resourceVersions", version: lower, empty: true},
		{Name: "empty, higher resourceVersions", version: higher, empty: true},
	}
}

// Resume makes the server reachable again. No request may be in progress when it is called.
func (s *Server) Resume(as *Rebuild) {
	if !as.Same {
		s.World = newWorld(2, as.naming, as.version)
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
