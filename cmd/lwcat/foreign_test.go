package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
)

// misroute makes a server answer requests for ConfigMaps with an empty list of Secrets, like a proxy with a wrong
// route. Watches that resume from a resourceVersion are not affected.
func misroute(server *lwtest.Server) (repair func()) {
	lists := func(r lwtest.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/configmaps") && (lwtest.Lists(r) || r.URL.Query().Get("sendInitialEvents") != "")
	}
	return server.Fail(lists, -1, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		r = r.Clone(r.Context())
		r.URL.Path = strings.Replace(r.URL.Path, "/configmaps", "/secrets", 1)
		server.ServeHTTP(w, r)
	})
}

// An empty list from another collection must not delete the objects, even if this run has not seen a correct list yet.
func TestRejectsListsOfAnotherCollection(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"default", "-o wide", "--resume"} {
		for lists, opts := range map[string]*lwtest.Options{"streaming lists": nil, "lists": {NoStreamingLists: true}} {
			t.Run(mode+"/"+lists, func(t *testing.T) {
				t.Parallel()
				server := start(t, opts)
				fill(t, server, 0, "a")
				args := []string{"-s", server.URL, "cm"}
				lose := func() func() { // the next watch expires, so lwcat must list but receives another collection
					server.StallWatches(true) // otherwise the watch could deliver the object before it is closed
					fill(t, server, 0, "b")
					server.Compact()
					return misroute(server)
				}
				switch mode {
				case "--resume":
					args = append(args, "--resume", filepath.Join(t.TempDir(), "state"))
					code, _, errs := lwcat(t, append(args, "--once")...)
					require.Equal(t, exitDone, code, errs)
					eventually(t, "the end of the first run's watch", func() bool { return len(server.Open(lwtest.Watches)) == 0 })
				case "-o wide":
					args = append(args, "-o", "wide")
				}
				r := follow(t, "", args...)
				watching(t, server, r, mode == "--resume")
				repair := lose()
				server.CloseWatches()
				server.StallWatches(false)
				eventually(t, "the rejected list", func() bool { return strings.Contains(r.errs.String(), "list of this resource, found") })
				repair()
				eventually(t, "the new object", func() bool { return strings.Contains(r.out.String(), "b") && len(server.Open(lwtest.Watches)) > 0 })
				require.NotContains(t, r.out.String(), "DELETED")
				r.stop()
			})
		}
	}
}

// A CustomResourceDefinition is deleted and recreated with another kind. The output must show that the old object
// was deleted, and then the new object.
func TestFollowsResourceWithAnotherKind(t *testing.T) {
	t.Parallel()
	for lists, opts := range map[string]*lwtest.Options{"streaming lists": nil, "lists": {NoStreamingLists: true}} {
		for _, flags := range [][]string{nil, {"--metadata-only"}, {"-o", "wide"}} {
			t.Run(lists+strings.Join(flags, " "), func(t *testing.T) {
				t.Parallel()
				server := start(t, opts)
				const definitions = "customresourcedefinitions.apiextensions.k8s.io"
				define := func(kind, name string) {
					create(t, server, definitions, sample.Definition("things.example.com", "v1", kind, ""))
					create(t, server, "things.example.com", named(name))
				}
				define("Widget", "first")
				r := follow(t, "", append([]string{"-s", server.URL, "things.example.com"}, flags...)...)
				watching(t, server, r, false)
				require.NoError(t, server.Delete("things.example.com", "default", "first"))
				eventually(t, "the deletion", func() bool { return strings.Contains(r.out.String(), "DELETED") }) // a relist reports deletions last
				require.NoError(t, server.Delete(definitions, "", "things.example.com"))
				eventually(t, "the 404", func() bool { return strings.Contains(r.errs.String(), "404") })
				define("Gadget", "second")
				server.Compact() // lwcat must list the new collection
				eventually(t, "the new object", func() bool { return strings.Contains(r.out.String(), "second") })
				require.Regexp(t, `(?s)ADDED.*first.*DELETED.*first.*ADDED.*second`, r.out.String())
				if flags == nil {
					require.Regexp(t, `(?s)"kind":"Widget".*"kind":"Gadget"`, r.out.String())
				}
				r.stop()
			})
		}
	}
}
