// Command operator measures cert-manager's cainjector, once with controller-runtime's default cache and once with
// listwatch's adapter. Both use the same kube-apiserver, Certificates and Secrets. The command make e2e-server builds
// etcd and the kube-apiserver.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/kubeassets"
)

var (
	count  = flag.Int("objects", 5_000, "number of Certificates, each with a Secret")
	rounds = flag.Int("rounds", 3, "number of rounds; the median is printed")
	after  = flag.Duration("for", 20*time.Second, "how long each operator runs after all CAs are written")
	graph  = flag.String("graph", "", "write a graph of RSS over time in the last round to this SVG file")
)

func main() {
	ctrl.SetLogger(logr.Discard())
	harness.Main("operator", compare, harness.Worker("operator", run))
}

func compare(ctx context.Context) error {
	if *harness.Short {
		*count, *rounds, *after = 20, 1, time.Second
	}
	environment, kubeconfig, err := startServer(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = environment.Stop() }()
	c, err := newCluster(environment.Config)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "creating %d Certificates and Secrets\n", *count)
	if err := c.fill(ctx, *count); err != nil {
		return err
	}
	theirs, ours := &contender{}, &contender{listwatch: true}
	name := func(c *contender) string { return fmt.Sprintf("listwatch=%t", c.listwatch) }
	err = harness.Rounds(*rounds, []*contender{theirs, ours}, name, func(of *contender) error {
		if err := c.clearCABundles(ctx); err != nil {
			return err
		}
		var r result
		if err := harness.Run(ctx, "operator", task{Kubeconfig: kubeconfig, Listwatch: of.listwatch, After: *after}, &r); err != nil {
			return err
		}
		of.results = append(of.results, r)
		return nil
	})
	if err != nil {
		return err
	}
	if err := show(ours, theirs); err != nil || *graph == "" {
		return err
	}
	title := fmt.Sprintf("cert-manager's cainjector with %d Certificates and Secrets", *count)
	return writeGraph(*graph, title, line{"listwatch", "#2a78d6", ours.last()}, line{"controller-runtime's cache", "#d6542a", theirs.last()})
}

// startServer starts etcd and a kube-apiserver with the CustomResourceDefinitions of cert-manager.
func startServer(ctx context.Context) (*envtest.Environment, string, error) {
	folder, err := os.MkdirTemp("", "operator")
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := kubeassets.Write("../..", folder); err != nil {
		return nil, "", err
	}
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager").Output()
	if err != nil {
		return nil, "", fmt.Errorf("go list failed; run this program in the folder bench/operator: %w", err)
	}
	environment := &envtest.Environment{
		BinaryAssetsDirectory: folder,
		CRDDirectoryPaths:     []string{strings.TrimSpace(string(module)) + "/deploy/crds"},
		ErrorIfCRDPathMissing: true,
	}
	if _, err := environment.Start(); err != nil {
		return nil, "", err
	}
	return environment, string(environment.KubeConfig), nil
}

// connect returns a rest.Config for the kubeconfig, without client-side rate limits.
func connect(kubeconfig string) *rest.Config {
	config := harness.MustGet(clientcmd.RESTConfigFromKubeConfig([]byte(kubeconfig)))
	config.QPS = -1
	return config
}
