package clients

import (
	"os"
	"path"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/docs"
	"github.com/stretchr/testify/require"
)

// TestDocumentation compiles the code blocks of the documentation against this module's dependencies.
func TestDocumentation(t *testing.T) {
	module := docs.Module{Folder: "e2e/clients", Names: docs.Names(), Given: docs.Given()}
	for name, path := range map[string]string{
		"appsv1":     "k8s.io/api/apps/v1",
		"corev1":     "k8s.io/api/core/v1",
		"metav1":     "k8s.io/apimachinery/pkg/apis/meta/v1",
		"types":      "k8s.io/apimachinery/pkg/types",
		"require":    "github.com/stretchr/testify/require",
		"slog":       "log/slog",
		"testing":    "testing",
		"kubernetes": "k8s.io/client-go/kubernetes",
		"rest":       "k8s.io/client-go/rest",
		"apierrors":  "k8s.io/apimachinery/pkg/api/errors",
	} {
		module.Names[name] = path
	}
	for name, of := range map[string]string{
		"pods":        "*cache.Informer[*corev1.Pod]",
		"deployments": "*cache.Informer[*appsv1.Deployment]",
		"c":           "struct{ queue *workqueue.Queue[lw.Key]; addOwner func(*corev1.Pod); reconcile func(context.Context, lw.Key) error }",
		"start":       "func(*testing.T) *lwtest.Server",
		"labels":      "string",
		"one":         "string",
		"clientset":   "kubernetes.Interface",
		"enqueue":     "func(*cache.Informer[*lw.Object]) *workqueue.Queue[lw.Key]",
		"unlabeled":   "func(*lw.Object) bool",
		"label":       "func(context.Context, *cache.Store[*lw.Object], kubernetes.Interface, lw.Key) error",
		"Run":         "func(context.Context, lw.Transport, kubernetes.Interface) error",
		"create":      "func(*testing.T, *lwtest.Server, string)",
		"labeled":     "func(*lwtest.Server, string) func() bool",
		"patches":     "func(lwtest.Request) bool",
	} {
		module.Given[name] = of
	}
	require.NoError(t, docs.CompileAll("../..", module))
}

// TestMigrationGuideNamesExistInClientGo checks the identifiers in the client-go columns in docs/migration.md.
func TestMigrationGuideNamesExistInClientGo(t *testing.T) {
	names := map[string]string{
		"fields": "k8s.io/apimachinery/pkg/fields",
		"rest":   "k8s.io/client-go/rest",
		"fake":   "k8s.io/client-go/kubernetes/fake",
	}
	for _, pkg := range []string{
		"dynamic", "dynamic/dynamicinformer", "informers", "metadata/metadatainformer", "tools/cache", "tools/cache/testing",
		"tools/clientcmd", "tools/pager", "tools/watch", "util/workqueue",
	} {
		names[path.Base(pkg)] = "k8s.io/client-go/" + pkg
	}
	compiler, err := docs.NewCompiler("../..", docs.Module{Folder: "e2e/clients", Names: names}, nil)
	require.NoError(t, err)
	text, err := os.ReadFile("../../docs/migration.md")
	require.NoError(t, err)
	found := 0
	for _, row := range docs.Tables(string(text)) {
		if row.Header[0] != "client-go" {
			continue
		}
		for _, span := range docs.Span.FindAllStringSubmatch(row.Cells[0], -1) {
			is, err := compiler.Find(span[1])
			require.NoError(t, err)
			require.True(t, is, span[1])
			found++
		}
	}
	require.Greater(t, found, 40)
}
