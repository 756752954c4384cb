package lw

// lent is a buffer that no stream reads into just now. One is enough where there is one thread, and sync.Pool costs 5 kB of
// the bundle.
var lent *[streamBuffer]byte

func borrow() *[streamBuffer]byte {
	b := lent
	if lent = nil; b == nil {
		b = new([streamBuffer]byte)
	}
	return b
}

func giveBack(b *[streamBuffer]byte) { lent = b }
