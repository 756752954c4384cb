//go:build !unix && !js

package secretfile

const nonblock = 0 // Opening a path cannot block on this system.
