package compact

import (
	"hash/maphash"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Object is an API object that is stored compressed. It is immutable and safe for concurrent use.
type Object struct {
	dictionary *dictionary
	held       string // metadata strings, followed by the compressed JSON
	digest     digest // digest of the uncompressed JSON

	// End offsets of the metadata strings in held. Offsets take less memory than four string headers.
	namespace, name, uid, resourceVersion uint32
}

// newObject returns an object with copies of the metadata and of packed, the compressed text. The copies share one
// string, because each allocation takes additional memory.
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

// GetNamespace returns the namespace. Like the other metadata methods, it does not decompress the object.
func (o *Object) GetNamespace() string { return o.held[:o.namespace] }

func (o *Object) GetName() string { return o.held[o.namespace:o.name] }

// GetUID returns metadata.uid.
func (o *Object) GetUID() string { return o.held[o.name:o.uid] }

func (o *Object) GetResourceVersion() string { return o.held[o.uid:o.resourceVersion] }

// Object returns the complete object. It decompresses the JSON unless the codec's cache contains the object. It cannot
// fail, because the codec verified the compressed JSON.
func (o *Object) Object() *lw.Object {
	hot := o.dictionary.cache
	if text := hot.get(o); text != nil {
		return text
	}
	text := o.dictionary.read(o.held[o.resourceVersion:])
	hot.put(o, text)
	return text
}

// equal reports whether the JSON strings of two objects have the same length and the same 128-bit hash.
func (o *Object) equal(other *Object) bool { return o == other || o.digest == other.digest }

// Holds reports whether the JSON string of text has the same length and the same 128-bit hash as the JSON string of o.
// It does not decompress o.
func (o *Object) Holds(text *lw.Object) bool { return o.digest == digestOf(text.Raw()) }

// Size returns the size of the compressed JSON and the metadata strings in bytes.
func (o *Object) Size() int { return len(o.held) }

// digest identifies a string by its length and a seeded 128-bit hash.
type digest struct {
	hash   [2]uint64
	length int
}

// seeds are random, so that an attacker cannot construct two strings with the same digest.
var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func digestOf(text string) digest {
	return digest{hash: [2]uint64{maphash.String(seeds[0], text), maphash.String(seeds[1], text)}, length: len(text)}
}
