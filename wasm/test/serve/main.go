//go:build !js

// Command serve runs the embedded API server for the tests of the package and prints its URL. It reads one command per
// line from standard input and answers each with a line. It exits at the end of its input.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"sync/atomic"

	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
)

// watching is the number of open watches.
var watching atomic.Int64

func main() {
	options := &lwtest.Options{}
	if len(os.Args) > 1 { // one token with full access and one without permissions
		options.Tokens, options.ForbiddenTokens = []string{"good"}, []string{"weak"}
	}
	server, err := lwtest.Start(options)
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	server.Fail(lwtest.Watches, -1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		watching.Add(1)
		defer watching.Add(-1)
		next.ServeHTTP(w, r)
	})
	fmt.Println(server.URL)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		answer, err := do(server, strings.SplitN(in.Text(), " ", 3))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(answer)
	}
}

func do(server *lwtest.Server, words []string) (answer any, err error) {
	switch words[0] {
	case "put": // resource, object
		_, err = server.Put(words[1], words[2])
	case "delete": // resource, namespace/name
		namespace, name, _ := strings.Cut(words[2], "/")
		err = server.Delete(words[1], namespace, name)
	case "drop":
		server.DropConnections()
	case "close-watches":
		server.CloseWatches()
	case "compact":
		server.Compact()
	case "stop":
		server.Close()
	case "restart":
		err = server.Restart()
	case "requests":
		return len(server.Requests(nil)), nil
	case "watching":
		return watching.Load(), nil
	default:
		err = fmt.Errorf("unknown command %s", words[0])
	}
	return "done", err
}
