// Package e2e tests listwatch against a real kube-apiserver, and lwtest's embedded server against a real kubectl.
package e2e

import (
	"os"
	"testing"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
)

var shared kube.Shared

func TestMain(m *testing.M) {
	code := m.Run()
	shared.Close()
	os.Exit(code)
}
