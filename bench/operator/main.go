// Command operator measures cert-manager's cainjector, once with controller-runtime's default cache and once with
// listwatch's adapter. Both runs use the same kube-apiserver, Certificates and Secrets. Run make e2e-server first,
// which builds etcd and the kube-apiserver. The command only prints the results, because docs/drop-in.md is not a document
// that harness.Save updates.
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
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/kube"
)

var (
	count  = flag.Int("objects", 5_000, "number of Certificates, each with a Secret")
	rounds = harness.Rounds(3)
	after  = flag.Duration("for", 20*time.Second, "how long each operator runs after all CAs are written")
	graph  = flag.String("graph", "", "write a graph of RSS over time in the last round to this SVG file")
)

const listwatchName = "listwatch"

var contenders = []string{"controller-runtime's cache", listwatchName}

func main() {
	ctrl.SetLogger(logr.Discard())
	harness.Main(compare, harness.Worker("operator", run))
}

func compare(ctx context.Context) error {
	// The folder of the cert-manager module contains the CustomResourceDefinitions.
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager").Output()
	if err != nil {
		return fmt.Errorf("go list failed; run this program in the folder bench/operator: %w", err)
	}
	environment, err := kube.Start("../..", strings.TrimSpace(string(module))+"/deploy/crds")
	if err != nil {
		return err
	}
	defer func() { _ = environment.Stop() }()
	c := harness.MustGet(client.New(environment.Config, client.Options{}))
	fmt.Fprintf(os.Stderr, "creating %d Certificates and Secrets\n", harness.Size(*count, 20))
	if err := fill(ctx, c, harness.Size(*count, 20)); err != nil {
		return err
	}
	samples := map[string][]sample{} // samples of the last round, by contender
	found, err := harness.Compare(*rounds, contenders, func(contender string) (harness.Figures, error) {
		if err := resetWebhooks(ctx, c); err != nil {
			return nil, err
		}
		t := task{Kubeconfig: string(environment.KubeConfig), Listwatch: contender == listwatchName, After: harness.Size(*after, time.Second)}
		var r result
		err := harness.Run(ctx, "operator", t, &r)
		samples[contender] = r.Samples
		return r.Figures, err
	})
	if err != nil {
		return err
	}
	harness.Print("operator", harness.Medians(found))
	if *graph == "" {
		return nil
	}
	return writeGraph(*graph, fmt.Sprintf("cert-manager's cainjector with %d Certificates and Secrets", *count), samples)
}
