package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw/discovery"
)

// Type identifies a resource type on a server, independent of its version.
type Type = discovery.Type

// TypeInfo describes a type in one version.
type TypeInfo = discovery.TypeInfo

// preferred returns each watchable type in the version that the server prefers. t.All is in the server's order of
// preference.
func preferred(t *discovery.Types) map[Type]TypeInfo {
	found := map[Type]TypeInfo{}
	for _, info := range t.All {
		if _, known := found[info.Type]; !known && info.Watchable() {
			found[info.Type] = info
		}
	}
	// The server serves each stored Event in both groups. If discovery of the core group failed, the group may still have
	// Events.
	if _, ok := found[Type{Resource: "events"}]; ok || t.Missing["/api"] != nil {
		delete(found, Type{Group: "events.k8s.io", Resource: "events"})
	}
	return found
}

// mayHave reports whether the server may have a type that t.All does not contain. This is so if discovery of the type's
// group failed. The objects of such a type must not be reported as deleted. The keys of t.Missing are group versions, and
// "/api" and "/apis".
func mayHave(t *discovery.Types, wanted Type) bool {
	if wanted.Group == "" {
		return t.Missing["/api"] != nil
	}
	return slices.ContainsFunc(slices.Collect(maps.Keys(t.Missing)), func(name string) bool {
		return name == "/apis" || strings.HasPrefix(name, wanted.Group+"/")
	})
}
