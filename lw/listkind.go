package lw

import (
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/invalid"
	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// matchesList reports whether a complete list belongs to the resource. Its apiVersion must match the resource. Its kind
// must end in List and match earlier lists. Without this check, another object with an items field could empty a store.
func (s *support) matchesList(r *Resource, meta *ListMeta) bool {
	if !r.matchesVersion(meta.apiVersion) || !s.matchesKind(meta.kind) {
		return false
	}
	if s.kind.Load() == nil {
		kind := meta.kind
		s.kind.Store(&kind)
	}
	return true
}

// matchesItem reports whether a list may belong to the resource, based on the members before the first item. Lists of
// custom resources send their kind after the items, so matchesItem then compares the kind of the item.
func (s *support) matchesItem(r *Resource, meta *ListMeta, item *Scanned) bool {
	if meta.apiVersion != "" && !r.matchesVersion(meta.apiVersion) {
		return false
	}
	if meta.kind != "" {
		return s.matchesKind(meta.kind)
	}
	kind, own := s.kind.Load(), item.bytes(item.kind)
	return kind == nil || len(own) == 0 || *kind == "List" || string(own)+"List" == *kind
}

// matchesKind reports whether kind is a list kind, and the same kind as in earlier lists.
func (s *support) matchesKind(kind string) bool {
	known := s.kind.Load()
	return strings.HasSuffix(kind, "List") && (known == nil || *known == kind)
}

// matchesVersion reports whether a list of this resource may have this apiVersion. A list at a raw path may have any
// apiVersion.
func (r *Resource) matchesVersion(apiVersion string) bool {
	if r.Raw != "" || apiVersion == "meta.k8s.io/v1" {
		return true
	}
	if r.Group != "" {
		return apiVersion == r.Group+"/"+r.Version
	}
	return apiVersion == r.Version
}

// wrongList records an error for a list that belongs to another resource. It returns false.
func (s scanner) wrongList() bool {
	return s.Fail(&jsonscan.SyntaxError{Offset: s.Offset(s.Pos()), Expected: "a list of this resource", Found: "another kind or apiVersion", Err: invalid.ErrNotList})
}
