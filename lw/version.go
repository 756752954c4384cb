package lw

// versionRegressed reports whether a collection's version went back. Versions can be ordered if they are decimal numbers
// without leading zeros, by length and then by bytes, as KEP-5504 has it; of any others only equality is known.
func versionRegressed(from, to string) bool {
	if !ordered(from) || !ordered(to) {
		return false
	}
	if len(from) != len(to) {
		return len(to) < len(from)
	}
	return to < from
}

func ordered(version string) bool {
	if version == "" || version[0] == '0' {
		return false
	}
	for i := range len(version) {
		if !isDigit(version[i]) {
			return false
		}
	}
	return true
}
