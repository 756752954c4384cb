package clientgo

import (
	"reflect"
	"sync/atomic"
	"unsafe"
	"weak"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// object is a stored object. It keeps the object's bytes, and refers to the decoded struct while the struct is in use.
type object struct {
	encoded
	decoded atomic.Pointer[decoded]
}

// encoded contains the bytes of an object: a *[lw.Object] contains JSON, and a *[message] contains protobuf.
type encoded interface {
	lw.Keyed
	GetUID() string
	Raw() string
}

// Key returns the namespace and the name of the object.
func (o *object) Key() lw.Key { return lw.KeyOf(o) }

// decoded refers to the struct of an object.
type decoded struct {
	first  weak.Pointer[byte] // first byte of the struct, because its type is known only at run time
	strong any                // keeps the struct alive if it cannot be decoded again; otherwise nil
	read   atomic.Int64       // time of the latest call of keep, in nanoseconds
	kept   atomic.Bool        // whether the struct is in recent
}

// Equal reports whether two objects have the same bytes.
func (o *object) Equal(other *object) bool { return o == other || o.Raw() == other.Raw() }

// read returns the struct of an object. All readers share it until the garbage collector frees it.
func (d *decoder) read(o *object) (any, error) {
	value, _, err := d.find(o)
	return value, err
}

// readAndKeep returns the struct of an object and keeps it in memory for the next reader.
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

// value returns the struct, or nil if the garbage collector has freed it.
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
