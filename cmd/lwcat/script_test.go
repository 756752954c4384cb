package main

import (
	"net/http"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/lwcatscript"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"lwcat": main})
}

// TestScripts runs the scripts in testdata/script against the embedded server.
func TestScripts(t *testing.T) {
	t.Parallel()
	lwcatscript.Run(t, "testdata/script", true, func(env *testscript.Env) (lwcatscript.Server, error) {
		server, err := lwtest.Start(nil)
		if err == nil {
			env.Defer(server.Close)
		}
		return embedded{server}, err
	})
}

type embedded struct{ server *lwtest.Server }

func (e embedded) URL() string       { return e.server.URL }
func (e embedded) Token() string     { return "" }
func (e embedded) Namespace() string { return "default" }

// Client returns a client that makes a new connection for each request, because a script may have dropped earlier
// connections.
func (e embedded) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
}
func (e embedded) Drop()    { e.server.DropConnections() }
func (e embedded) Compact() { e.server.Compact() }
func (e embedded) Restart() {
	e.server.Close()
	if err := e.server.Restart(); err != nil {
		panic(err)
	}
}
