//go:build !unix && !js

package secretfile

const nonblock = 0 // on this system, opening a file never blocks
