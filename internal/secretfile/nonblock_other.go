//go:build !unix && !js

package secretfile

const nonblock = 0 // open never blocks on this system
