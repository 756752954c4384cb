package lw

// CompareResourceVersions compares two resourceVersions of one collection. It returns -1 if a is older than b, 0 if
// they are equal, and +1 if a is newer. Only decimal numbers without leading zeros have an order
// (https://kep.k8s.io/5504). For other strings ok is false.
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

// versionRegressed reports whether next is known to be older than previous.
func versionRegressed(previous, next string) bool {
	order, ok := CompareResourceVersions(next, previous)
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
