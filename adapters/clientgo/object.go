package clientgo

import (
	"reflect"
	"sync/atomic"
	"unsafe"
	"weak"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// object holds the encoding of a stored object and, while the object is in use, its decoded struct.
type object struct {
	encoded
	decoded atomic.Pointer[decoded]
}

// encoded is the encoding of a stored object: JSON in a *[lw.Object] or a [packed], and protobuf in a *[message].
type encoded interface {
	lw.Keyed
	GetUID() string
	Raw() string
}

func (o *object) Key() lw.Key { return lw.KeyOf(o) }

// decoded holds a weak pointer to the decoded struct of an object.
type decoded struct {
	first  weak.Pointer[byte] // first byte of the struct, whose type is known only at run time
	strong any                // the value if the object cannot be decoded again, otherwise nil
	read   atomic.Int64       // Unix time of the last read, in nanoseconds
	kept   atomic.Bool        // the list of recently read structs contains the struct
}

// Equal reports whether two objects have the same encoding.
func (o *object) Equal(other *object) bool { return o == other || o.Raw() == other.Raw() }

// read returns the decoded struct of o. All callers share the struct until the garbage collector frees it.
func (d *decoder) read(o *object) (any, error) {
	value, _, err := d.find(o)
	return value, err
}

// readAndKeep is like read, but also keeps the struct in memory for at least keepFor.
func (d *decoder) readAndKeep(o *object) (any, error) {
	value, of, err := d.find(o)
	if err == nil {
		d.recent.keep(of, value)
	}
	return value, err
}

func (d *decoder) find(o *object) (any, *decoded, error) {
	known := o.decoded.Load()
	if value := d.value(known); value != nil {
		return value, known, nil
	}
	made, err := d.decode(o.encoded)
	if err != nil {
		return nil, nil, err
	}
	own := weakly(made)
	if !o.decoded.CompareAndSwap(known, own) {
		now := o.decoded.Load()
		if value := d.value(now); value != nil {
			return value, now, nil
		}
	}
	return made, own, nil
}

func weakly(made runtime.Object) *decoded {
	return &decoded{first: weak.Make((*byte)(reflect.ValueOf(made).UnsafePointer()))}
}

// value returns the decoded struct, or nil if the garbage collector has freed it.
func (d *decoder) value(of *decoded) any {
	if of == nil {
		return nil
	}
	if of.strong != nil {
		return of.strong
	}
	if first := of.first.Value(); first != nil {
		return reflect.NewAt(d.example.Elem(), unsafe.Pointer(first)).Interface()
	}
	return nil
}
