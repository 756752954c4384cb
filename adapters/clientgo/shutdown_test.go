//go:build !previous

package clientgo

import "k8s.io/client-go/tools/cache"

var shutDownEventHandler = cache.ShutDownEventHandler
