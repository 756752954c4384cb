//go:build !js

package lw

import "sync"

// lent has the buffers that no stream reads into just now: a thousand idle watches need none.
var lent = sync.Pool{New: func() any { return new([streamBuffer]byte) }}

func borrow() *[streamBuffer]byte    { return lent.Get().(*[streamBuffer]byte) }
func giveBack(b *[streamBuffer]byte) { lent.Put(b) }
