//go:build !js

package lean

import "sync"

// Pool is [sync.Pool], except in a WASM module.
type Pool = sync.Pool
