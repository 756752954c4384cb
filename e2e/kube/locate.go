package kube

import (
	"path/filepath"
	"runtime"
	"sync"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/kubeassets"
)

// locate returns the folder that contains the programs kube and kubectl. If they do not exist, the error matches
// [kubeassets.ErrNotBuilt]. The result is cached, because running the script takes time.
var locate = sync.OnceValues(func() (string, error) {
	_, file, _, _ := runtime.Caller(0)
	return kubeassets.Locate(filepath.Join(filepath.Dir(file), "..", ".."))
})
