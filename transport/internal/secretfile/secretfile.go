//go:build !js

// Package secretfile reads files with credentials and certificates for the packages http and kubeconfig.
package secretfile

import (
	"fmt"
	"io"
	"os"
)

// mostMiB is the maximum file size in MiB. Real tokens and certificates are much smaller. The limit exists because a
// wrong path may lead to a large file.
const mostMiB = 1

// Read reads a regular file of at most 1 MiB. It follows symbolic links and does not block on named pipes. purpose
// describes the file in error messages, for example "token file". Errors of the operating system are of type
// *fs.PathError.
func Read(purpose, path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s %q is not a regular file", purpose, path)
	}
	text, err := io.ReadAll(io.LimitReader(file, mostMiB<<20+1))
	if err == nil && len(text) > mostMiB<<20 { // Stat does not know the size of every file, for example in /proc
		err = fmt.Errorf("%s %q is larger than the limit of %d MiB", purpose, path, mostMiB)
	}
	return text, err
}
