package protoscan

// maxVarint is the size of the largest varint, in bytes.
const maxVarint = 10

// uvarint decodes a varint at the beginning of data. It returns a size of zero if the varint is incomplete or longer
// than 64 bits.
func uvarint(data []byte) (v uint64, size int) {
	for i := range min(len(data), maxVarint) {
		b := data[i]
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if i == maxVarint-1 && b > 1 {
				break
			}
			return v, i + 1
		}
	}
	return 0, 0
}

// PutUvarint encodes a varint at the beginning of data and returns its size.
func PutUvarint(data []byte, v uint64) int {
	size := 0
	for ; v >= 0x80; v >>= 7 {
		data[size] = byte(v) | 0x80
		size++
	}
	data[size] = byte(v)
	return size + 1
}
