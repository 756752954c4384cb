package jsonscan

import "github.com/seed-6d2a410a/listwatch/lw/internal/lean"

// pool holds unused buffers for streams that receive data. An idle watch returns its buffer to the pool.
var pool = lean.Pool{New: func() any { return new([streamBuffer]byte) }}
