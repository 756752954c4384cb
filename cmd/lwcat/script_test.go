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
	lwcatscript.Run(t, "testdata/script", true, func(env *testscript.Env) (*lwcatscript.Server, error) {
		server, err := lwtest.Start(nil)
		if err != nil {
			return nil, err
		}
		env.Defer(server.Close)
		return &lwcatscript.Server{
			URL: server.URL, Namespace: "default",
			// Each request makes a new connection, because the script may have dropped earlier connections.
			Client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
			Drop:   server.DropConnections, Compact: server.Compact,
			Restart: func() {
				server.Close()
				if err := server.Restart(); err != nil {
					panic(err)
				}
			},
		}, nil
	})
}
