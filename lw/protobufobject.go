//go:build !js

package lw

import "github.com/seed-6d2a410a/listwatch/lw/internal/protoscan"

// These are the protobuf field numbers of metadata in every object, and of the fields in metav1.ObjectMeta.
const (
	fieldMetadata        = 1
	fieldName            = 1
	fieldNamespace       = 3
	fieldUID             = 5
	fieldResourceVersion = 6
	fieldAnnotations     = 12
	fieldManagedFields   = 17
)

// object scans the object in data into o. If it drops metadata.managedFields, it moves the remaining fields within
// data. It returns false if data is malformed.
func (d *protoDecoder) object(o *Scanned, data []byte) bool {
	*o = Scanned{managed: o.managed}
	metadata, valid := metadataOf(data)
	if !valid {
		return d.malformed("an object with one metadata field", "malformed protobuf")
	}
	kept := metadata.End - metadata.Value
	if !o.managed {
		kept = keptSize(data[metadata.Value:metadata.End])
		if kept < 0 {
			return d.malformed("metadata", "malformed protobuf")
		}
	}
	if kept < metadata.End-metadata.Value {
		data = dropManagedFields(data, metadata, kept)
		metadata, _ = metadataOf(data)
	}
	o.body = data
	m := protoscan.Of(data[metadata.Value:metadata.End])
	for f, ok := m.Next(); ok; f, ok = m.Next() {
		if f.Type != protoscan.Bytes {
			continue
		}
		at := span{Start: metadata.Value + f.Value, End: metadata.Value + f.End}
		switch f.Number {
		case fieldName:
			o.name = at
		case fieldNamespace:
			o.namespace = at
		case fieldUID:
			o.uid = at
		case fieldResourceVersion:
			o.resourceVersion = at
		case fieldAnnotations:
			entry := m.Bytes(f)
			if string(lastField(entry, 1)) == "k8s.io/initial-events-end" {
				o.initialEventsEnd = string(lastField(entry, 2)) == "true"
			}
		}
	}
	return m.Valid() || d.malformed("metadata", "malformed protobuf")
}

// metadataOf returns the metadata field of an object, or a zero Field if there is none. It returns valid == false if
// data is malformed or contains several metadata fields.
func metadataOf(data []byte) (metadata protoscan.Field, valid bool) {
	m := protoscan.Of(data)
	for f, ok := m.Next(); ok; f, ok = m.Next() {
		if f.Number != fieldMetadata {
			continue
		}
		if f.Type != protoscan.Bytes || metadata.Number != 0 {
			return metadata, false
		}
		metadata = f
	}
	return metadata, m.Valid()
}

// keptSize returns the size of metadata without managedFields, or -1 if metadata is malformed.
func keptSize(metadata []byte) int {
	kept := len(metadata)
	m := protoscan.Of(metadata)
	for f, ok := m.Next(); ok; f, ok = m.Next() {
		if f.Number == fieldManagedFields {
			kept -= f.End - f.Start
		}
	}
	if !m.Valid() {
		return -1
	}
	return kept
}

// dropManagedFields removes managedFields from the object in data. It returns the remaining object, which is at the end
// of data. kept is the result of keptSize.
func dropManagedFields(data []byte, metadata protoscan.Field, kept int) []byte {
	var length [10]byte // sized for the longest varint
	header := 1 + protoscan.PutUvarint(length[:], uint64(kept))
	start := metadata.End - kept - header - metadata.Start
	end := metadata.Value // end of the kept fields after they move to the left
	m := protoscan.Of(data[metadata.Value:metadata.End])
	for f, ok := m.Next(); ok; f, ok = m.Next() {
		if f.Number != fieldManagedFields {
			end += copy(data[end:], data[metadata.Value+f.Start:metadata.Value+f.End])
		}
	}
	copy(data[metadata.End-kept:metadata.End], data[metadata.Value:end])
	copy(data[start:], data[:metadata.Start])
	at := start + metadata.Start
	data[at] = fieldMetadata<<3 | protoscan.Bytes
	copy(data[at+1:], length[:header-1])
	return data[start:]
}
