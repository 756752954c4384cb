// Command publish saves the results of a benchmark that is not written in Go. It reads the results as JSON from stdin,
// and updates the tables in the documents. The working directory must be the root of the repository.
//
//	go run ./internal/tools/publish RUN
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: publish RUN")
		os.Exit(2)
	}
	var results published.Results
	err := json.NewDecoder(os.Stdin).Decode(&results)
	if err == nil {
		err = published.Save(".", os.Args[1], results)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "publish:", err)
		os.Exit(1)
	}
}
