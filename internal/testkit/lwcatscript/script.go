// Package lwcatscript runs the scripts that test lwcat, against the embedded server and, in the module e2e, against a real
// one. A script is a file of testscript, with these commands besides:
//
//	post PATH JSON, put PATH JSON, patch PATH JSON, delete PATH
//		write to the server. A patch is a merge patch.
//	start NAME ARGUMENT...
//		starts lwcat, whose output goes to the files NAME.out and NAME.err.
//	see FILE REGEXP [COUNT]
//		waits until a file has so many matches, or one.
//	end NAME CODE [interrupt]
//		waits until what was started ends by itself, or sends it an interrupt first, and compares its exit code.
//	url VARIABLE FILE
//		sets a variable to what a file says, as that of a lwcat that serves.
//	drop, compact, restart
//		break all connections, forget what happened before, start the server anew.
//
// The condition [embedded] holds where the server is the embedded one: only it drops connections and forgets on demand.
//
// $SERVER is the server's URL, $TOKEN a token that it takes, and $NS a namespace of the script's own.
package lwcatscript

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Server is what a script runs against.
type Server interface {
	URL() string
	Token() string
	Namespace() string
	Client() *http.Client // that trusts it
	Restart()
}

// Embedded is a Server that can do more.
type Embedded interface {
	Server
	Drop()
	Compact()
}

// Run runs the scripts of a folder, each against a server of its own, whose end newServer leaves to the environment's Defer.
// lwcat has to be a command that scripts can run.
func Run(t *testing.T, folder string, embedded bool, newServer func(*testscript.Env) (Server, error)) {
	testscript.Run(t, testscript.Params{
		Dir: folder,
		Setup: func(env *testscript.Env) error {
			server, err := newServer(env)
			if err != nil {
				return err
			}
			s := &script{server: server, started: map[string]*process{}}
			env.Values[key{}] = s
			env.Defer(s.kill)
			env.Setenv("SERVER", server.URL())
			env.Setenv("TOKEN", server.Token())
			env.Setenv("NS", server.Namespace())
			env.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"post":    write(http.MethodPost, "application/json"),
			"put":     write(http.MethodPut, "application/json"),
			"patch":   write(http.MethodPatch, "application/merge-patch+json"),
			"delete":  write(http.MethodDelete, "application/json"),
			"start":   start,
			"see":     see,
			"end":     end,
			"url":     url,
			"drop":    fault(func(s Server) { s.(Embedded).Drop() }),
			"compact": fault(func(s Server) { s.(Embedded).Compact() }),
			"restart": fault(Server.Restart),
		},
		Condition: func(name string) (bool, error) {
			if name != "embedded" {
				return false, fmt.Errorf("there is no condition %s", name)
			}
			return embedded, nil
		},
		RequireExplicitExec: true,
	})
}

type key struct{} // of a script's values

type script struct {
	server  Server
	started map[string]*process
}

func of(ts *testscript.TestScript) *script { return ts.Value(key{}).(*script) }

// write makes a request of "PATH [JSON]".
func write(method, contentType string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		server := of(ts).server
		request, err := http.NewRequest(method, server.URL()+args[0], strings.NewReader(strings.Join(args[1:], " ")))
		ts.Check(err)
		request.Header.Set("Content-Type", contentType)
		if token := server.Token(); token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := server.Client().Do(request)
		ts.Check(err)
		body, err := io.ReadAll(response.Body)
		ts.Check(err)
		ts.Check(response.Body.Close())
		if refused := response.StatusCode >= 300; refused != neg {
			ts.Fatalf("%s %s: %s: %s", method, args[0], response.Status, body)
		}
	}
}

func fault(f func(Server)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, _ []string) { f(of(ts).server) }
}
