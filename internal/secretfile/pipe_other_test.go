//go:build !unix && !js

package secretfile_test

import "testing"

func makePipe(t *testing.T, _ string) { t.Skip("there are no named pipes in the file system") }
