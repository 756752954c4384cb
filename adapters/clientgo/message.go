package clientgo

import (
	"bytes"
	"errors"
	"unsafe"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// protobufType is implemented by Go types with generated protobuf methods, such as *corev1.Pod.
type protobufType interface {
	Marshal() ([]byte, error)
	Unmarshal(data []byte) error
}

// message is a stored object in protobuf encoding. It implements [encoded].
type message struct {
	raw                                   string
	namespace, name, uid, resourceVersion part
}

// part is the location of a metadata string in message.raw, in bytes.
type part struct{ start, size uint32 }

// newMessage returns a message with a copy of data. It returns an error if a metadata string does not occur in data.
func newMessage(data, namespace, name, uid, resourceVersion []byte) (*message, error) {
	m := &message{}
	for _, field := range []struct {
		value []byte
		to    *part
	}{{namespace, &m.namespace}, {name, &m.name}, {uid, &m.uid}, {resourceVersion, &m.resourceVersion}} {
		start := bytes.Index(data, field.value)
		if start < 0 {
			return nil, errors.New("clientgo: a protobuf message does not contain the metadata of its object")
		}
		*field.to = part{uint32(start), uint32(len(field.value))}
	}
	m.raw = string(data)
	return m, nil
}

func (m *message) part(at part) string { return m.raw[at.start : at.start+at.size] }

func (m *message) GetNamespace() string       { return m.part(m.namespace) }
func (m *message) GetName() string            { return m.part(m.name) }
func (m *message) GetUID() string             { return m.part(m.uid) }
func (m *message) GetResourceVersion() string { return m.part(m.resourceVersion) }

func (m *message) Raw() string { return m.raw }

// into unmarshals the message into object, which does not share memory with the message.
func (m *message) into(object protobufType) error {
	return object.Unmarshal(unsafe.Slice(unsafe.StringData(m.raw), len(m.raw)))
}

// messageCodec is the [lw.Codec] for objects in protobuf encoding.
type messageCodec struct {
	lw.Protobuf
	*objectCodec
}

func (c messageCodec) Decode(s *lw.Scanned) (*object, error) {
	m, err := newMessage(s.Raw(), s.Namespace(), s.Name(), s.UID(), s.ResourceVersion())
	if err != nil {
		return nil, err
	}
	return c.keep(&object{encoded: m})
}

// Same reports whether Decode would return an object equal to o. With a transform, it returns false.
func (c messageCodec) Same(o *object, s *lw.Scanned) bool {
	return c.transform == nil && string(s.Raw()) == o.Raw()
}
