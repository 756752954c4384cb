package jsonscan

import "github.com/seed-6d2a410a/listwatch/lw/internal/lean"

// pool holds unused stream buffers. An idle watch does not need a stream buffer.
var pool = lean.Pool{New: func() any { return new([streamBuffer]byte) }}
