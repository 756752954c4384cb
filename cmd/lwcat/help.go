package main

import (
	"fmt"
	"io"
)

const intro = `lwcat prints the events of Kubernetes collections, and never stops by itself.

Usage:
  lwcat [flags] RESOURCE|PATH...

RESOURCE is named as kubectl names it: pods, po, deploy.apps, deployments.v1.apps, pod/web-0.
PATH is a collection's path on the server, as /apis/apps/v1/deployments.
`

const outro = `
Exit codes: 0 done; 1 the server or the network said no; 2 wrong usage; 3 what was waited for did not come;
130 interrupted.

Examples:
  lwcat -s http://127.0.0.1:8001 -A pods
  lwcat -s http://127.0.0.1:8001 --once nodes | jq -r .object.metadata.name
`

func printHelp(out io.Writer) {
	fmt.Fprint(out, intro)
	for _, section := range new(config).sections(false) {
		fmt.Fprintf(out, "\n%s:\n%s", section.title, section.flags.FlagUsagesWrapped(110))
	}
	fmt.Fprint(out, outro)
}
