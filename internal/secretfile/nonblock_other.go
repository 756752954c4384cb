//go:build !unix && !js

package secretfile

const nonblock = 0 // no named pipe that blocks can be opened by its path
