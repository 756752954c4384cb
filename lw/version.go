package lw

// CompareResourceVersions orders two resource versions of one collection: -1 if a is older than b, 0 if they are equal, +1
// if a is newer. ok is false if they cannot be ordered: only decimal numbers without leading zeros can, by length and then
// by bytes, as KEP-5504 has it (https://kep.k8s.io/5504). Of any others only equality is known.
func CompareResourceVersions(a, b string) (order int, ok bool) {
	switch {
	case !ordered(a) || !ordered(b):
		return 0, false
	case a == b:
		return 0, true
	case len(a) < len(b), len(a) == len(b) && a < b:
		return -1, true
	}
	return 1, true
}

// versionRegressed reports whether a collection's version is known to have gone back.
func versionRegressed(from, to string) bool {
	order, ok := CompareResourceVersions(to, from)
	return ok && order < 0
}

func isDigit(c byte) bool { return c-'0' < 10 }

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
