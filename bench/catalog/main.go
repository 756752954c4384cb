// Command catalog compares cache/catalog with Argo CD's cluster cache, which also follows all types of a cluster. Both
// follow 300 types with 100,000 objects of 3 kB on the same lwtest server. The command is in a separate module, because
// Argo CD's package requires many other modules.
package main

import (
	"context"
	"os"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

const (
	types      = 300
	namespaces = 50
)

var rounds = harness.Rounds(3)

// Names of the contenders. By default, Argo CD keeps only metadata. It keeps whole objects if its caller requests them.
const (
	listwatchWhole    = "listwatch, whole objects"
	argoWhole         = "Argo CD, whole objects"
	listwatchMetadata = "listwatch, metadata only"
	listwatchPacked   = "listwatch, metadata only, packed"
	argoMetadata      = "Argo CD, metadata only"
)

// task describes one run of a contender. The server receives it, too, but uses only Types and Objects.
type task struct {
	Contender, Server string
	Types, Objects    int // number of types and of objects on the server; multiples of 10, see owner
	Events            int // number of changes to measure
}

func (t task) isArgo() bool { return t.Contender == argoWhole || t.Contender == argoMetadata }

func main() {
	harness.Main(compare, harness.Server("server", serve), harness.Worker("client", measure))
}

func compare(ctx context.Context) error {
	t := task{Types: harness.Size(types, 10), Objects: harness.Size(100_000, 100)}
	stop, err := harness.Serve(ctx, "server", t, &t.Server)
	if err != nil {
		return err
	}
	defer stop()
	found, err := harness.Compare(*rounds, []string{listwatchWhole, argoWhole, listwatchMetadata, listwatchPacked, argoMetadata}, func(contender string) (figures harness.Figures, err error) {
		t.Contender = contender
		t.Events = harness.Size(20_000, 10)
		if t.isArgo() {
			t.Events = harness.Size(4_000, 10) // Argo CD gets fewer events, because it needs much more time for each
		}
		return figures, harness.Run(ctx, "client", t, &figures)
	})
	if err != nil {
		return err
	}
	harness.Must(os.Chdir("..")) // the folder from which Save finds the documents
	return harness.Save("catalog", harness.Medians(found))
}
