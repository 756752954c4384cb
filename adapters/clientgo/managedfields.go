package clientgo

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"
	"unique"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// slim is a stored object in JSON whose text lacks the fieldsV1 members in metadata.managedFields. The value of such a
// member names the fields that a program has set, so objects that were written by the same program often have equal
// values. The process keeps each value only once. slim implements [encoded].
type slim struct {
	*lw.Object
	cuts []cut
}

// cut is a part that the text of a slim object lacks: a member fieldsV1 and one comma.
type cut struct {
	text  unique.Handle[string]
	at    uint32 // position in the shorter text, in bytes
	entry uint32 // index of the element of metadata.managedFields
}

const managedFields = "metadata.managedFields"

// minCut is the size in bytes of the smallest value that a cut contains. Sharing a smaller value would hardly save memory.
const minCut = 64

// withoutFields decodes objects without fieldsV1.
var withoutFields, _ = lw.Omit("metadata.managedFields[*].fieldsV1")

// repetitions finds values that occur in several objects. A value that occurs only once, for example because it
// contains the UID of the object's owner, stays in its object, because sharing it would need more memory.
type repetitions struct {
	seed   maphash.Seed
	hashes [1024]atomic.Uint32 // hashes of recent values
}

// repeated reports whether value is one of the recent values.
func (r *repetitions) repeated(value string) bool {
	hash := maphash.String(r.seed, value)
	upper := uint32(hash >> 32)
	return r.hashes[hash%uint64(len(r.hashes))].Swap(upper) == upper
}

// slimmed converts whole, which was decoded from s, to a *slim. It returns whole itself if that saves no memory, or if the
// managed fields are unusual.
func (r *repetitions) slimmed(whole *lw.Object, s *lw.Scanned) encoded {
	entries, repeated := slices.Collect(whole.Get(managedFields).Elements()), false
	for _, entry := range entries {
		if value := entry.Get("fieldsV1").Raw(); len(value) >= minCut {
			if !r.repeated(value) {
				return whole
			}
			repeated = true
		}
	}
	if !repeated {
		return whole
	}
	shorter, err := withoutFields.Decode(s)
	if err != nil {
		return whole
	}
	made, size := &slim{shorter, make([]cut, 0, len(entries))}, len(shorter.Raw())
	n := 0
	for entry := range shorter.Get(managedFields).Elements() {
		text, at, ok := missing(entry.Raw(), entries[n].Raw())
		if !ok || text != "" && valueIn(text) != entries[n].Get("fieldsV1").Raw() {
			return whole // the entry has several members fieldsV1, or the value is not an object
		}
		if strings.Contains(text, `\u`) || !utf8.ValidString(text) {
			return whole // the value could not be restored exactly, because decoding changes Unicode escapes and malformed UTF-8
		}
		if text != "" {
			made.cuts = append(made.cuts, cut{unique.Make(text), uint32(offset(shorter.Raw(), entry.Raw()) + at), uint32(n)})
			size += len(text)
		}
		n++
	}
	if size != len(whole.Raw()) {
		return whole // the object has several members metadata or managedFields
	}
	return made
}

// missing returns the part of long that short lacks, and its position in short. It returns false if short lacks several
// parts.
func missing(short, long string) (part string, at int, ok bool) {
	for at < len(short) && short[at] == long[at] {
		at++
	}
	part = long[at : at+len(long)-len(short)]
	return part, at, long[at+len(part):] == short[at:]
}

// valueIn returns the value of the member fieldsV1 in the text of a cut, or "" if the value is not a JSON object.
func valueIn(text string) string {
	start, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if start < 0 {
		return ""
	}
	return text[start : end+1]
}

// offset returns the position of part in text, which contains part.
func offset(text, part string) int {
	return int(uintptr(unsafe.Pointer(unsafe.StringData(part))) - uintptr(unsafe.Pointer(unsafe.StringData(text))))
}

// Raw returns the whole JSON of the object.
func (s *slim) Raw() string {
	var b strings.Builder
	text, from := s.Object.Raw(), 0
	for _, cut := range s.cuts {
		b.WriteString(text[from:cut.at])
		b.WriteString(cut.text.Value())
		from = int(cut.at)
	}
	b.WriteString(text[from:])
	return b.String()
}

// restore adds fieldsV1 to the managed fields of an object that was decoded from the shorter text.
func (s *slim) restore(object metav1.Object) {
	entries := object.GetManagedFields()
	for _, cut := range s.cuts {
		if int(cut.entry) < len(entries) {
			entries[cut.entry].FieldsV1 = metav1.NewFieldsV1(valueIn(cut.text.Value()))
		}
	}
	object.SetManagedFields(entries)
}

// jsonOf returns the JSON of an object. Members fieldsV1 may be missing from it.
func jsonOf(e encoded) *lw.Object {
	switch e := e.(type) {
	case *slim:
		return e.Object
	case packed:
		return e.Object.Object()
	}
	return e.(*lw.Object)
}
