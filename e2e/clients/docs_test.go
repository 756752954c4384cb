package clients

import (
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/docs"
	"github.com/stretchr/testify/require"
)

// TestDocumentation compiles the blocks of code in the documentation that need Kubernetes' own packages.
func TestDocumentation(t *testing.T) {
	module := docs.Module{Folder: "e2e/clients", Names: docs.Names(), Given: docs.Given()}
	for name, path := range map[string]string{
		"corev1":    "k8s.io/api/core/v1",
		"metav1":    "k8s.io/apimachinery/pkg/apis/meta/v1",
		"runtime":   "k8s.io/apimachinery/pkg/runtime",
		"fields":    "k8s.io/apimachinery/pkg/fields",
		"labels":    "k8s.io/apimachinery/pkg/labels",
		"schema":    "k8s.io/apimachinery/pkg/runtime/schema",
		"kclient":   "k8s.io/client-go/kubernetes",
		"dynamic":   "k8s.io/client-go/dynamic",
		"metadata":  "k8s.io/client-go/metadata",
		"rest":      "k8s.io/client-go/rest",
		"clientcmd": "k8s.io/client-go/tools/clientcmd",
	} {
		module.Names[name] = path
	}
	require.NoError(t, docs.CompileAll("../..", module))
}
