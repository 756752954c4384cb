package clientgo

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
	"unicode/utf8"
	"unique"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// slim is a stored object in JSON whose text contains {} instead of the fieldsV1 values in metadata.managedFields. Such a
// value names the fields that a program has set, so objects that were written by the same program often have equal values.
// The process keeps each value only once. slim implements [encoded].
type slim struct {
	*lw.Object
	cuts []cut
}

// cut is a fieldsV1 value that was removed from the text of a slim object.
type cut struct {
	value unique.Handle[string]
	at    uint32 // position of {} in the shorter text, in bytes
	entry uint32 // index of the element of metadata.managedFields
}

// empty replaces a cut value.
const empty = "{}"

// minCut is the size in bytes of the smallest value that is cut. Sharing a smaller value would hardly save memory.
const minCut = 64

// repetitions finds values that occur in several objects. If a large value has not occurred recently, slimmed keeps its
// whole object, because sharing a value that occurs only once would need more memory. An example is a value that contains
// the UID of the object's owner.
type repetitions struct {
	seed   maphash.Seed
	hashes [1024]atomic.Uint32 // the upper 32 bits of the hash of the last value in each slot; a collision only wastes memory
}

// repeated reports whether value is one of the recent values.
func (r *repetitions) repeated(value string) bool {
	hash := maphash.String(r.seed, value)
	upper := uint32(hash >> 32)
	return r.hashes[hash%uint64(len(r.hashes))].Swap(upper) == upper
}

// slimmed converts whole to a *slim. It returns whole itself if that saves no memory.
func (r *repetitions) slimmed(whole *lw.Object) encoded {
	var cuts []cut
	entry, removed := uint32(0), 0
	for managed := range whole.Get("metadata.managedFields").Elements() {
		value := managed.Get("fieldsV1").Raw()
		// Decoding changes Unicode escapes and malformed UTF-8, but restore inserts a value unchanged. So the decoded struct
		// would differ from that of the whole object.
		if len(value) >= minCut && value[0] == '{' && !strings.Contains(value, `\u`) && utf8.ValidString(value) {
			if !r.repeated(value) {
				return whole
			}
			cuts = append(cuts, cut{unique.Make(value), uint32(offset(whole.Raw(), value) - removed), entry})
			removed += len(value) - len(empty)
		}
		entry++
	}
	if cuts == nil {
		return whole
	}
	text, from := make([]byte, 0, len(whole.Raw())-removed), 0
	for _, cut := range cuts {
		at := from + int(cut.at) - len(text) // position of the value in the text of whole
		text = append(append(text, whole.Raw()[from:at]...), empty...)
		from = at + len(cut.value.Value())
	}
	shorter, err := lw.ParseObject(append(text, whole.Raw()[from:]...))
	if err != nil {
		return whole // cannot happen, because replacing a JSON value with {} keeps the JSON valid
	}
	return &slim{shorter, cuts}
}

// offset returns the position of part in text. part must share the memory of text, because offset compares addresses.
func offset(text, part string) int {
	return int(uintptr(unsafe.Pointer(unsafe.StringData(part))) - uintptr(unsafe.Pointer(unsafe.StringData(text))))
}

// Raw returns the whole JSON of the object.
func (s *slim) Raw() string {
	var b strings.Builder
	text, from := s.Object.Raw(), 0
	for _, cut := range s.cuts {
		b.WriteString(text[from:cut.at])
		b.WriteString(cut.value.Value())
		from = int(cut.at) + len(empty)
	}
	b.WriteString(text[from:])
	return b.String()
}

// restore sets fieldsV1 in the managed fields of an object that was decoded from the shorter text.
func (s *slim) restore(object metav1.Object) {
	entries := object.GetManagedFields()
	for _, cut := range s.cuts {
		if int(cut.entry) < len(entries) { // a custom Go type may leave out managed fields
			entries[cut.entry].FieldsV1 = metav1.NewFieldsV1(cut.value.Value())
		}
	}
	object.SetManagedFields(entries)
}

// jsonOf returns the JSON of an object. Values of fieldsV1 may be missing from it.
func jsonOf(e encoded) *lw.Object {
	switch e := e.(type) {
	case *slim:
		return e.Object
	case packed:
		return e.Object.Object()
	}
	return e.(*lw.Object)
}
