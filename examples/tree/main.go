// Command tree shows all objects that belong to an object, for example the ReplicaSets and Pods of a Deployment, and
// keeps the tree up to date. docs/catalog.md explains the program.
//
//	go run ./examples/tree -n shop deployments.apps/web
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache/catalog"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
)

func main() {
	server := flag.String("server", "", "URL of the API server; if empty, the URL that kubectl uses")
	namespace := flag.String("n", "default", "namespace of the object; empty if it has none")
	flag.Parse()
	resource, name, ok := strings.Cut(flag.Arg(0), "/")
	if !ok {
		log.Fatal("name one object, for example deployments.apps/web")
	}
	plural, group, _ := strings.Cut(resource, ".")
	root := catalog.Ref{Type: catalog.Type{Group: group, Resource: plural}, Key: lw.Key{Namespace: *namespace, Name: name}}
	transport, _, err := kubeconfig.Connect(&kubeconfig.Options{Server: *server})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	erase := ""
	if info, err := os.Stdout.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		erase = "\x1b[H\x1b[J" // moves the cursor to the top of the terminal and clears it
	}
	if err := show(ctx, transport, root, os.Stdout, erase); !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

// show prints the tree below root whenever it changes, until ctx is done. It prints erase before each tree.
func show(ctx context.Context, transport lw.Transport, root catalog.Ref, out io.Writer, erase string) error {
	all := catalog.New(transport, &catalog.Options{Follow: settings})
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { _ = all.Run(ctx) }) // ctx is the only cause of its end
	var failed *catalog.SyncError
	if err := all.WaitSynced(ctx); errors.As(err, &failed) {
		log.Print(err) // the tree lacks the objects of these types, but the others are complete
	} else if err != nil {
		return err
	}
	for last := ""; ; {
		text, err := draw(all, root)
		if err == nil && text != last {
			_, err = io.WriteString(out, erase+text)
			last = text
		}
		if err != nil {
			return err
		}
		select { // any type can change the tree, so it is cheaper to look regularly than after each change in the cluster
		case <-time.After(250 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// settings returns settings that keep only the fields that the tree shows. It returns nil to skip Events, because they
// have no owners and never appear in a tree.
func settings(info catalog.TypeInfo) *catalog.Settings {
	if info.Resource == "events" {
		return nil
	}
	return &catalog.Settings{Fields: []string{"metadata.ownerReferences", "metadata.creationTimestamp", "status.phase", "status.conditions"}}
}

// draw returns the tree below root, with a line for each object.
func draw(all *catalog.Catalog, root catalog.Ref) (string, error) {
	snapshot := all.Snapshot()
	if _, ok := snapshot.Get(root); !ok {
		return fmt.Sprintf("%s does not exist yet\n", root), nil
	}
	stale := map[catalog.Type]string{} // the last column of each object whose type may be out of date
	for _, status := range all.Statuses() {
		if status.State != catalog.Live {
			stale[status.Type] = fmt.Sprintf("%v since %s", status.State, status.Since.Format(time.TimeOnly))
		}
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "OBJECT\tSTATE\tCREATED\t")
	for depth, ref := range snapshot.Tree(root) {
		object, _ := snapshot.Get(ref)
		fmt.Fprintf(table, "%s%s %s\t%s\t%s\t%s\n", strings.Repeat("  ", depth), object.Kind(), ref.Name,
			state(object), object.Get("metadata.creationTimestamp"), stale[ref.Type])
	}
	err := table.Flush()
	return text.String(), err
}

// state returns the state that the tree shows: the Ready or Available condition of an object, or else its phase.
func state(object *lw.Object) string {
	for condition := range object.Get("status.conditions").Elements() {
		kind, status := condition.Member("type").String(), condition.Member("status").String()
		switch {
		case (kind == "Ready" || kind == "Available") && status == "True":
			return kind
		case kind == "Ready" || kind == "Available":
			return "not " + kind
		}
	}
	return object.Get("status.phase").String()
}
