package jsonscan

import "github.com/seed-6d2a410a/listwatch/lw/internal/lean"

// pool holds the buffers that no stream uses. A thousand idle watches need none.
var pool = lean.Pool{New: func() any { return new([streamBuffer]byte) }}
