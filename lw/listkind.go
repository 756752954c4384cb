package lw

import (
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/invalid"
	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// ownList reports whether a complete list belongs to the resource. Its apiVersion must match the resource, and its kind
// must end in List and match earlier lists. This check keeps any other object with items from emptying a store.
func (s *support) ownList(r *Resource, meta *ListMeta) bool {
	if !r.ownVersion(meta.APIVersion) || !s.ownKind(meta.Kind) {
		return false
	}
	if s.kind.Load() == nil {
		kind := meta.Kind
		s.kind.Store(&kind)
	}
	return true
}

// ownItem reports whether a list can belong to the resource, when one of its items arrives. Lists of custom resources
// send their kind after the items, so ownItem then compares the kind of the item.
func (s *support) ownItem(r *Resource, meta *ListMeta, item *Scanned) bool {
	if meta.APIVersion != "" && !r.ownVersion(meta.APIVersion) {
		return false
	}
	if meta.Kind != "" {
		return s.ownKind(meta.Kind)
	}
	kind, own := s.kind.Load(), item.bytes(item.kind)
	return kind == nil || len(own) == 0 || *kind == "List" || string(own)+"List" == *kind
}

// ownKind reports whether lists of this kind are expected.
func (s *support) ownKind(kind string) bool {
	known := s.kind.Load()
	return strings.HasSuffix(kind, "List") && (known == nil || *known == kind)
}

// ownVersion reports whether a list of this resource may have this apiVersion. A list at a raw path may have any.
func (r *Resource) ownVersion(apiVersion string) bool {
	if r.Raw != "" || apiVersion == "meta.k8s.io/v1" {
		return true
	}
	if r.Group != "" {
		return apiVersion == r.Group+"/"+r.Version
	}
	return apiVersion == r.Version
}

// notThisList records that the list belongs to another resource.
func (s scanner) notThisList() bool {
	return s.Fail(&jsonscan.SyntaxError{Offset: s.Offset(s.Pos()), Expected: "a list of this resource", Found: "another kind or apiVersion", Err: invalid.ErrNotList})
}
