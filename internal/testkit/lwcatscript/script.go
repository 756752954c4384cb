// Package lwcatscript runs the test scripts of lwcat, against the embedded server or, in module e2e, a real API server.
// A script is a testscript file with these additional commands:
//
//	post PATH JSON, patch PATH JSON, delete PATH
//		Sends a write request to the server. A patch is a merge patch.
//	start NAME ARGUMENT...
//		Starts lwcat. Its output goes to the files NAME.out and NAME.err.
//	see FILE REGEXP [COUNT]
//		Waits until the file has at least COUNT matches, or 1 match by default.
//	end NAME CODE [interrupt]
//		Waits until the process exits and checks its exit code. With "interrupt", sends SIGINT to the process first.
//	drop, compact, restart
//		Drops all connections, compacts the event history, or restarts the server.
//
// The condition [embedded] is true for the embedded server. Only that server supports drop, compact and restart.
//
// $SERVER is the URL of the server, $TOKEN is a valid token, and $NS is a namespace that only this script uses.
package lwcatscript

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Server is the API server that a script uses.
type Server struct {
	URL, Token, Namespace  string
	Client                 *http.Client // trusts the server's certificate
	Drop, Compact, Restart func()       // nil for a real server

	started map[string]*exec.Cmd // by the name in the script
}

// Run runs each script in folder with a separate server. newServer must use the environment's Defer to stop the server.
// The test's main function must register lwcat as a testscript command.
func Run(t *testing.T, folder string, embedded bool, newServer func(*testscript.Env) (*Server, error)) {
	testscript.Run(t, testscript.Params{
		Dir: folder,
		Setup: func(env *testscript.Env) error {
			server, err := newServer(env)
			if err != nil {
				return err
			}
			server.started = map[string]*exec.Cmd{}
			env.Values[key{}] = server
			env.Setenv("SERVER", server.URL)
			env.Setenv("TOKEN", server.Token)
			env.Setenv("NS", server.Namespace)
			env.Setenv("GORACE", os.Getenv("GORACE")) // race detector options, because scripts do not inherit the environment
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"post":    write(http.MethodPost, "application/json"),
			"patch":   write(http.MethodPatch, "application/merge-patch+json"),
			"delete":  write(http.MethodDelete, "application/json"),
			"start":   start,
			"see":     see,
			"end":     end,
			"drop":    func(ts *testscript.TestScript, _ bool, _ []string) { of(ts).Drop() },
			"compact": func(ts *testscript.TestScript, _ bool, _ []string) { of(ts).Compact() },
			"restart": func(ts *testscript.TestScript, _ bool, _ []string) { of(ts).Restart() },
		},
		Condition: func(name string) (bool, error) {
			if name != "embedded" {
				return false, fmt.Errorf("unknown condition %s", name)
			}
			return embedded, nil
		},
		RequireExplicitExec: true,
	})
}

type key struct{} // key of a *Server in testscript.Env.Values

func of(ts *testscript.TestScript) *Server { return ts.Value(key{}).(*Server) }

// write returns a script command with the arguments "PATH [JSON]" that sends a request.
func write(method, contentType string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		server := of(ts)
		request, err := http.NewRequest(method, server.URL+args[0], strings.NewReader(strings.Join(args[1:], " ")))
		ts.Check(err)
		request.Header.Set("Content-Type", contentType)
		if server.Token != "" {
			request.Header.Set("Authorization", "Bearer "+server.Token)
		}
		response, err := server.Client.Do(request)
		ts.Check(err)
		body, err := io.ReadAll(response.Body)
		ts.Check(err)
		ts.Check(response.Body.Close())
		if rejected := response.StatusCode >= 300; rejected != neg {
			ts.Fatalf("%s %s: %s: %s", method, args[0], response.Status, body)
		}
	}
}
