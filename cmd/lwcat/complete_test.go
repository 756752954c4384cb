package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/need"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// completable starts a server that contains objects. It returns a folder with a kubeconfig for the server.
func completable(t *testing.T) (folder string) {
	server := start(t, nil)
	for _, name := range []string{"shop", "shipping"} {
		create(t, server, "namespaces", named(name))
	}
	create(t, server, "pods", `{"metadata":{"name":"web-0","namespace":"shop"}}`)
	create(t, server, "pods", `{"metadata":{"name":"web-1","namespace":"shop"}}`)
	create(t, server, "configmaps", named("settings"))
	folder = t.TempDir()
	config := fmt.Sprintf(`{"clusters":[{"name":"c:1","cluster":{"server":%q}}],"users":[{"name":"u1","user":{}}],
		"contexts":[{"name":"arn:aws:one","context":{"cluster":"c:1","user":"u1"}},{"name":"arn:aws:two","context":{"cluster":"c:1","user":"u1"}}],"current-context":"arn:aws:one"}`, server.URL)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "kube.config"), []byte(config), 0o600))
	return folder
}

// completions maps command lines to the completions of their last word.
var completions = map[string]string{
	"":                         "completion configmaps customresourcedefinitions deployments events everything help namespaces nodes pods secrets services version widgets",
	"po":                       "pods",
	"pods,se":                  "pods,secrets pods,services",
	"-A se":                    "secrets services",
	"nosuch":                   "",
	"/api":                     "",
	"-n shop pod/":             "pod/web-0 pod/web-1",
	"cm/se":                    "cm/settings",
	"-n sh":                    "shipping shop",
	"-n shop,sh":               "shop,shipping shop,shop",
	"--namespace=sh":           "shipping shop",
	"-An sho":                  "shop",
	"--namesp":                 "--namespace",
	"--as":                     "--as --as-group",
	"po -o json":               "jsonl json jsonpath=",
	"--output=js":              "jsonl json jsonpath=",
	"--transport ":             "http ws auto",
	"--context arn:":           "arn:aws:one arn:aws:two",
	"--context=arn:aws:t":      "arn:aws:two",
	"--cluster ":               "c:1",
	"--user ":                  "u1",
	"--token ":                 "",
	"--kubeconfig ":            "",
	"--resume=ku":              "",
	"completion ":              "bash fish powershell zsh",
	"help ":                    "all until",
	"version ":                 "",
	"get po":                   "pods",
	"get pods -n shop web-":    "web-0 web-1",
	"get pods web-0 -n shop w": "web-0 web-1",
	"get -n shop pod/":         "pod/web-0 pod/web-1",
	"-s http://127.0.0.1:1 po": "",
	"--kubeconfig none po":     "",
}

func TestComplete(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(completable(t), "kube.config"))
	for line, want := range completions {
		code, out, errs := lwcat(t, append([]string{"__complete"}, strings.Split(line, " ")...)...)
		require.Equal(t, exitDone, code)
		require.NotContains(t, errs, "Error")
		var words []string
		for text := range strings.Lines(out) {
			if word, _, _ := strings.Cut(strings.TrimSpace(text), "\t"); !strings.HasPrefix(word, ":") { // skips cobra's directive
				words = append(words, word)
			}
		}
		require.ElementsMatch(t, strings.Fields(want), words, line)
	}
	_, out, _ := lwcat(t, "__complete", "deploy")
	require.Equal(t, "deployments\tDeployment, apps/v1, deploy\n:4\n", out)
	_, out, _ = lwcat(t, "__complete", "-o", "jsonpa")
	require.Equal(t, "jsonpath=\n:6\n", strings.ReplaceAll(out, "\t", ""), "the shell must add no space after =")
	_, out, _ = lwcat(t, "__complete", "--watch")
	require.Equal(t, "--watch\tfollow changes (the default, except with 'lwcat get')\n--watch-only\tprint only changes, not the existing objects\n:4\n", out)
}

func TestCompleteFields(t *testing.T) {
	server := guessable(t)
	for line, want := range map[string]string{
		"pods --until status.": "status.phase status.conditions", "pods --where status.ph": "status.phase", "pods --until ": "metadata spec status",
		"pods --until status.nosuch.": "",
		"get pods --until status.ph":  "status.phase", "pod/web-0 --until metadata.": "metadata.name metadata.labels", "deploy --until ": "", "nosuch --until ": "", "--event ": "ADDED MODIFIED DELETED",
	} {
		_, out, _ := lwcat(t, append([]string{"__complete", "-s", server.URL}, strings.Split(line, " ")...)...)
		require.ElementsMatch(t, append(strings.Fields(want), ":4"), strings.Fields(out), line)
	}
}

func TestFileFlagsCompleteFiles(t *testing.T) {
	new(config).flags(false).VisitAll(func(flag *pflag.Flag) {
		if flag.NoOptDefVal != "" {
			return
		}
		_, out, _ := lwcat(t, "__complete", "--"+flag.Name, "")
		_, usage := pflag.UnquoteUsage(flag)
		require.Equal(t, strings.Contains(flag.Usage, "`FILE"), out == ":0\n", "--%s: %s", flag.Name, usage)
	})
}

func TestCompletionTimesOut(t *testing.T) {
	t.Parallel()
	server := start(t, nil)
	server.Fail(nil, -1, lwtest.Stall())
	done := make(chan string)
	go func() {
		_, out, _ := lwcat(t, "__complete", "-s", server.URL, "po")
		done <- out
	}()
	select {
	case said := <-done:
		require.Equal(t, ":4\n", said)
	case <-time.After(time.Minute):
		require.Fail(t, "lwcat did not exit in time")
	}
}

// shells maps each shell to a script that prints the completions of a command line.
var shells = map[string]string{
	// The first two functions replace those of the bash-completion package, which cobra's script calls.
	"bash": `_get_comp_words_by_ref() {
	read -ra words <<<"$COMP_LINE"; [[ $COMP_LINE == *[[:blank:]] ]] && words+=("")
	cword=$((${#words[@]} - 1)); cur=${words[cword]}; prev=${words[cword - 1]}
}
__ltrim_colon_completions() { [[ $1 == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"${1%"${1##*:}"}"}"); }
source <(lwcat completion bash)
COMP_LINE="lwcat $1"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
__start_lwcat 2>/dev/null; printf '%s\n' "${COMPREPLY[@]}"`,
	"zsh": `zmodload zsh/zpty
zpty z 'PS1= zsh -f -i'
zpty -w z 'autoload -Uz compinit; compinit -u -D; source <(lwcat completion zsh); zstyle ":completion:*" insert-tab false
setopt no_beep; tell() { print -r -- "$BUFFER" >line; exit }; zle -N tell; bindkey "^X" tell; bindkey "^I" complete-word'
zpty -w -n z "lwcat $1"$'\t\x18'
zpty -r z all '*never*'
cat line`,
	"fish": `lwcat completion fish | source; complete -C "lwcat $argv[1]" | string replace -r '\t.*' ''; true`,
}

func TestShells(t *testing.T) {
	t.Parallel()
	for shell, script := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			path := need.Program(t, shell, "on Debian: apt install "+shell)
			folder := completable(t)
			self, err := os.Executable()
			require.NoError(t, err)
			require.NoError(t, os.Symlink(self, filepath.Join(folder, "lwcat"))) // the test binary acts as lwcat under this name
			for line, want := range shellCompletions(shell) {
				args := map[string][]string{"bash": {"--norc", "-c", script, "bash"}, "zsh": {"-f", "-c", script, "zsh"}, "fish": {"-N", "-c", script, "--"}}[shell]
				cmd := exec.CommandContext(t.Context(), path, append(args, line)...)
				cmd.Dir = folder
				cmd.Env = append(os.Environ(), "KUBECONFIG=kube.config", "PATH="+folder+":"+os.Getenv("PATH"), "HOME="+folder, "TERM=dumb")
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s", out)
				require.ElementsMatch(t, strings.Fields(want), strings.Fields(string(out)), "%s: %s", shell, line)
			}
		})
	}
}

// shellCompletions returns the completions that a shell should print for each command line. zsh inserts the common
// prefix of all completions, so its results are complete lines.
func shellCompletions(shell string) map[string]string {
	if shell == "zsh" {
		return map[string]string{
			"confi": "lwcat configmaps", "-n shi": "lwcat -n shipping", "-n shop pod/": "lwcat -n shop pod/web-",
			"--output=wi": "lwcat --output=wide", "--context arn:aws:t": "lwcat --context arn:aws:two", "--kubeconfig ku": "lwcat --kubeconfig kube.config",
			"--resume=ku": "lwcat --resume=kube.config", "--watch-": "lwcat --watch-only",
		}
	}
	all := map[string]string{
		"confi": "configmaps", "-n sh": "shipping shop", "-n shop pod/": "pod/web-0 pod/web-1", "pods,se": "pods,secrets pods,services",
		"--output=js": "--output=jsonl --output=json --output=jsonpath=", "--context arn:aws:t": "arn:aws:two", "--kubeconfig ku": "kube.config", "--resume=ku": "kube.config",
		"--watch-": "--watch-only", "nosuch": "",
	}
	if shell == "fish" { // fish completes whole words
		all["--resume=ku"] = "--resume=kube.config"
	}
	if shell == "bash" { // bash replaces only the text after the last = or :
		all["--output=js"], all["--context arn:aws:t"], all["--output="] = "json jsonl jsonpath=", "two", "custom-columns= diff json jsonl jsonpath= line name table wide yaml"
		all["--kubeconfig ku"], all["--resume=ku"] = "", "" // bash completes files itself
		all["pods,se"] = ""                                 // bash prints nothing, because cobra's script escapes the comma before it compares words
	}
	return all
}
