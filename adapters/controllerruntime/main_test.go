package controllerruntime

import (
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // without a logger, controller-runtime prints a warning
	goleak.VerifyTestMain(m)
}
