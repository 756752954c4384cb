//go:build !js

package lean

import "sync"

// Pool is [sync.Pool].
type Pool = sync.Pool
