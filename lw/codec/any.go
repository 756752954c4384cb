package codec

import (
	"hash/maphash"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// anyReader reads valid JSON. It decodes values of type any into nil, bool, string, int64, float64, []any and
// map[string]any, as Kubernetes does for unstructured objects. json-iterator would decode every number as a float64,
// allocate each member name, and let maps grow while it fills them.
type anyReader struct {
	text string
	utf8 bool // whether text is valid UTF-8
	at   int  // index of the next byte

	// Members and elements of the objects and arrays that are not complete yet. A map or slice is allocated only when its
	// end has been read, because its size is then known.
	members  []member
	elements []any

	// known maps a hash to the short string with this hash that was decoded last. An equal string is then not allocated
	// again. The objects of a collection share most of their short strings, especially the member names.
	known [1024]any

	standard []byte // reused for JSON that an UnmarshalJSON method or encoding/json decodes
	err      *fieldError
}

type member struct {
	name  string
	value any
}

// maxKnown is the maximum length of the strings in anyReader.known, in bytes. It limits the memory that an anyReader keeps
// in the pool.
const maxKnown = 32

var (
	anyReaders = sync.Pool{New: func() any { return &anyReader{} }} // a garbage collection frees them
	hashSeed   = maphash.MakeSeed()
)

func newAnyReader(text string) *anyReader {
	r := anyReaders.Get().(*anyReader)
	r.text, r.utf8, r.at, r.err = text, utf8.ValidString(text), jsonscan.SkipSpace(text, 0), nil
	return r
}

func (r *anyReader) release() {
	r.text = ""
	anyReaders.Put(r)
}

// value decodes the value at r.at and steps over the white space behind it.
func (r *anyReader) value() any {
	first := r.text[r.at]
	switch first {
	case '"':
		return r.string()
	case '{':
		return r.object()
	case '[':
		return r.array()
	}
	text := r.raw()
	switch first {
	case 'n':
		return nil
	case 't', 'f':
		return first == 't'
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		r.fail(anyType, "a number that does not fit")
	}
	return n
}

func (r *anyReader) object() map[string]any {
	first := len(r.members)
	for r.next(); r.err == nil && r.text[r.at] != '}'; {
		name := r.string().(string)
		r.next() // the colon
		start := r.at
		r.members = append(r.members, member{name, r.value()})
		if r.err != nil {
			r.err.inMember(name, anyType, r.text[start:])
		}
		r.comma()
	}
	r.next()
	found := r.members[first:]
	object := make(map[string]any, len(found))
	for _, m := range found {
		object[m.name] = m.value
	}
	clear(found) // so that the pool does not keep the values in memory
	r.members = r.members[:first]
	return object
}

func (r *anyReader) array() any {
	first := len(r.elements)
	for r.next(); r.err == nil && r.text[r.at] != ']'; {
		r.elements = append(r.elements, r.value())
		if r.err != nil {
			r.err.inElement(len(r.elements) - first - 1)
		}
		r.comma()
	}
	r.next()
	found := r.elements[first:]
	array := make([]any, len(found))
	copy(array, found)
	clear(found)
	r.elements = r.elements[:first]
	return array
}

// string decodes a string. It returns the string as a value of type any, because `known` contains strings in this form.
// Converting a string to any would allocate memory.
func (r *anyReader) string() any {
	content := r.content()
	if len(content) > maxKnown {
		return strings.Clone(content)
	}
	known := &r.known[maphash.String(hashSeed, content)%uint64(len(r.known))]
	if text, ok := (*known).(string); !ok || text != content {
		*known = strings.Clone(content)
	}
	return *known
}

// content steps over a string and returns its content, which may share the memory of the text. Invalid UTF-8 and lone
// surrogates become U+FFFD, as in encoding/json.
func (r *anyReader) content() string {
	start := r.at + 1
	end := start + strings.IndexByte(r.text[start:], '"')
	content := r.text[start:end] // up to the first quote, which may be escaped
	if !r.utf8 || strings.IndexByte(content, '\\') >= 0 {
		end = jsonscan.ValueEnd(r.text, r.at) - 1
		content = string(jsonscan.Unescape(nil, []byte(r.text[start:end])))
	}
	r.at = end
	r.next()
	return content
}

// next steps over one byte and the white space behind it.
func (r *anyReader) next() {
	r.at++
	r.space()
}

func (r *anyReader) space() {
	if r.at < len(r.text) && r.text[r.at] <= ' ' {
		r.at = jsonscan.SkipSpace(r.text, r.at)
	}
}
