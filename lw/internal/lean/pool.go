//go:build !js

package lean

import "sync"

// Pool is an alias of [sync.Pool].
type Pool = sync.Pool
