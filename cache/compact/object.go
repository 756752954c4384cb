package compact

import (
	"hash/maphash"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Object is one API object, whose text is held compressed. It is immutable and safe to share.
type Object struct {
	dictionary *dictionary
	held       string // the metadata that is read out, one after the other, and the compressed text
	digest     digest // of the text

	// Where each of the metadata ends in held. Four strings would be twice as large as what they say of a Pod.
	namespace, name, uid, resourceVersion uint32
}

// newObject copies what an object is to hold: two allocations.
func newObject(text *lw.Object, by *dictionary, packed []byte) *Object {
	var held strings.Builder
	held.Grow(len(text.GetNamespace()) + len(text.GetName()) + len(text.GetUID()) + len(text.GetResourceVersion()) + len(packed))
	end := func(part string) uint32 {
		held.WriteString(part)
		return uint32(held.Len())
	}
	o := &Object{dictionary: by, digest: digestOf(text.Raw())}
	o.namespace, o.name = end(text.GetNamespace()), end(text.GetName())
	o.uid, o.resourceVersion = end(text.GetUID()), end(text.GetResourceVersion())
	held.Write(packed)
	o.held = held.String()
	return o
}

// GetNamespace, GetName, GetUID and GetResourceVersion return the metadata of that name. They decompress nothing.
func (o *Object) GetNamespace() string { return o.held[:o.namespace] }

func (o *Object) GetName() string { return o.held[o.namespace:o.name] }

func (o *Object) GetUID() string { return o.held[o.name:o.uid] }

func (o *Object) GetResourceVersion() string { return o.held[o.uid:o.resourceVersion] }

// Key returns the object's namespace and name.
func (o *Object) Key() lw.Key { return lw.KeyOf(o) }

// Object returns the whole object: the one that was returned before if it is still hot, or else decompressed. It does not
// fail, as the text was read back once when it was compressed, and one that was not the same was not held compressed.
func (o *Object) Object() *lw.Object {
	hot := o.dictionary.cache
	if text := hot.get(o); text != nil {
		return text
	}
	text := o.dictionary.read(o.held[o.resourceVersion:])
	hot.put(o, text)
	return text
}

// Equal reports whether two objects are the same text, by its length and a hash of 128 bits.
func (o *Object) Equal(other *Object) bool { return o == other || o.digest == other.digest }

// digest identifies a text by its length and a seeded 128-bit hash.
type digest struct {
	hash   [2]uint64
	length int
}

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func digestOf(text string) digest {
	return digest{hash: [2]uint64{maphash.String(seeds[0], text), maphash.String(seeds[1], text)}, length: len(text)}
}
