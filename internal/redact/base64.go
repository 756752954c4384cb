package redact

// Base64 encodes text as URL-safe base64 without padding. encoding/base64 would increase the size of the WASM module.
func Base64(text string) string { return encode(text, 0) }

// encode returns text in base64, without the first `skip` bits. If text is part of a longer string, those bits share a
// base64 character with the bytes before text.
func encode(text string, skip int) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	encoded := make([]byte, 0, (len(text)*4+2)/3)
	var bits uint32 // the lowest n bits are not encoded yet
	n := -skip
	for i := range len(text) {
		for bits, n = bits<<8|uint32(text[i]), n+8; n >= 6; n -= 6 {
			encoded = append(encoded, digits[bits>>(n-6)&63])
		}
	}
	if n > 0 {
		encoded = append(encoded, digits[bits<<(6-n)&63])
	}
	return string(encoded)
}
