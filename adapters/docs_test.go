package adapters

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/docs"
)

func TestDocumentation(t *testing.T) {
	module := docs.Module{Folder: "adapters", Names: docs.Names(), Given: docs.Given()}
	module.Names["clientgo"] = "github.com/seed-6d2a410a/listwatch/adapters/clientgo"
	module.Names["listwatch"] = "github.com/seed-6d2a410a/listwatch/adapters/controllerruntime"
	module.Names["rest"] = "k8s.io/client-go/rest"
	module.Names["runtime"] = "k8s.io/apimachinery/pkg/runtime"
	module.Names["corev1"] = "k8s.io/api/core/v1"
	module.Names["ctrl"] = "sigs.k8s.io/controller-runtime"
	module.Names["appsv1"] = "k8s.io/api/apps/v1"
	module.Given["config"] = "*rest.Config"
	module.Given["scheme"] = "*runtime.Scheme"
	module.Given["mgr"] = "ctrl.Manager"
	require.NoError(t, docs.CompileAll("..", module))
}
