package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/condition"
	"github.com/spf13/cobra"
)

// shortHelp is the help with the most common flags.
const shortHelp = `lwcat prints the events of Kubernetes collections until you stop it.

Examples:
  lwcat -A pods                                      follow the Pods in all namespaces
  lwcat deploy/web -o diff                           show which fields change
  lwcat pod/web-0 --until condition=Ready --timeout 2m && echo up
  lwcat --once nodes -o jsonl | jq -r .object.metadata.name
  lwcat -n shop everything                           follow all resources in a namespace

Usage: lwcat [flags] RESOURCE|PATH...
RESOURCE is a name as in kubectl, such as pods, po, deploy.apps, deployments.v1.apps or pod/web-0.
The name "everything" stands for all resources of the server, also those that appear later.
PATH is the path of a collection on the server, for example /apis/apps/v1/deployments.

Server:  --context NAME, -s URL, --kubeconfig FILE, --as USER
Objects: -n NAMESPACE[,NAMESPACE...], -A, -l LABELS, --field-selector FIELDS, --where CONDITION
Output:  -o FORMAT, --event ADDED,DELETED, --only PATHS, --sort-by PATH, -L LABELS, --color=always
         FORMAT: jsonl, json, line, table, wide, diff, name, yaml, custom-columns=..., jsonpath=...
Time:    --once, --watch-only, --count N, --timeout 30s, --until CONDITION, --wait, --resume FILE

As in kubectl: get, wait --for and rollout status. api-resources lists what can be watched.

Exit codes: 0 success; 1 failure; 2 wrong usage; 3 the condition or event of --until, --count or
--once did not occur; 130 or 143 interrupted.

More: lwcat help all, lwcat help until, lwcat version, lwcat completion bash|zsh|fish|powershell
`

// topics are the arguments of lwcat help.
var topics = []string{"all", "until"}

// addCommands adds the subcommands. Cobra itself adds the completion subcommand.
func addCommands(root *cobra.Command) {
	command := &cobra.Command{
		Use: "help [TOPIC]", Short: "show the help", ValidArgs: topics, Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, topic := help(root), append(args, "")[0] // without an argument, topic is ""
			switch about, _, err := root.Find([]string{topic}); {
			case topic == "all":
				text = "Flags of lwcat:\n" + root.Flags().FlagUsagesWrapped(helpWidth-5)
			case topic == "until":
				text = "--until CONDITION exits when the condition holds. With several --until flags, all conditions must hold.\n\n" + condition.Grammar
			case err != nil || topic != "" && about == root:
				return usageError{fmt.Errorf("unknown help topic %q: expected %s or a command", topic, strings.Join(topics, ", "))}
			case topic != "":
				text = help(about)
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), text)
			return err
		},
	}
	root.SetHelpCommand(command)
	root.AddCommand(command, &cobra.Command{
		Use: "version", Short: "print the version of lwcat", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "lwcat %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	})
}

// helpWidth is the line width of the help, in columns.
const helpWidth = 100

// help returns the help for a command.
func help(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return shortHelp
	}
	return fmt.Sprintf("%s\n\nUsage:\n  %s\n\n%s", strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)), cmd.UseLine(), cmd.LocalFlags().FlagUsagesWrapped(helpWidth))
}

// version returns the module version from the build information, for example "v1.2.3",
// "v0.0.0-20261121120855-a313d0efb1ae" or "(devel)".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	return cmp.Or(info.Main.Version, "(unknown)")
}
