//go:build !unix && !js

package secretfile

const nonblock = 0 // opening a file never blocks on this system
