package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/spf13/pflag"
)

// completionTimeout limits how long a shell waits for completions.
const completionTimeout = 1500 * time.Millisecond

// candidate is a completion with the description that some shells show.
type candidate struct{ text, description string }

// files tells the shell to complete file names itself.
var files = []candidate{{text: ":files"}}

// complete implements the hidden command lwcat __complete WORD... CURRENT for the completion scripts. It prints one
// completion of CURRENT per line, followed by a tab and a description. It reports no errors, and prints nothing after
// completionTimeout.
func complete(ctx context.Context, args []string, stdout, _ io.Writer) error {
	if len(args) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	found := make(chan []candidate, 1)
	go func() { // a credential plugin may ignore ctx
		found <- newCompleter(ctx, args[:len(args)-1]).complete(args[len(args)-1])
	}()
	select {
	case <-ctx.Done():
		return nil
	case all := <-found:
		out := bufio.NewWriter(stdout)
		for _, c := range all {
			if c.isWord() {
				fmt.Fprintf(out, "%s\t%s\n", c.text, output.Plain(c.description))
			}
		}
		return out.Flush()
	}
}

// isWord reports whether a shell reads the text as one literal word. Kubernetes names always pass. The check protects
// the command line from names that a malicious server sends.
func (c candidate) isWord() bool {
	return !strings.ContainsFunc(c.text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-._:/=,@+%^", r)
	})
}

// completer completes a word based on the words before it.
type completer struct {
	ctx    context.Context
	config *config
	flags  *pflag.FlagSet
	words  []string // before the current word
	names  []string // words that are neither flags nor flag values
}

func newCompleter(ctx context.Context, words []string) *completer {
	c := &completer{ctx: ctx, config: new(config), words: words, flags: pflag.NewFlagSet("", pflag.ContinueOnError)}
	for _, section := range c.config.sections(false) {
		c.flags.AddFlagSet(section.flags)
	}
	c.flags.Bool("help", false, "show the common flags and examples")
	c.flags.ParseErrorsAllowlist.UnknownFlags = true
	_ = c.flags.Parse(words) // ignores errors because the line may be incomplete
	c.names = c.flags.Args()
	return c
}

// complete returns the candidates for a word.
func (c *completer) complete(current string) []candidate {
	if len(c.words) > 0 && isCommand(c.words[0]) {
		return c.argument(current)
	}
	if flag := c.pendingFlag(); flag != nil {
		return c.value(flag, "", current)
	}
	if name, value, found := strings.Cut(current, "="); found && strings.HasPrefix(name, "--") {
		if flag := c.flags.Lookup(name[2:]); flag != nil {
			return c.value(flag, name+"=", value)
		}
		return nil
	}
	if strings.HasPrefix(current, "-") {
		return c.flagNames(current)
	}
	all := c.resources(current)
	if len(c.words) == 0 {
		all = append(all, withPrefix(commandNames(), current)...)
	}
	return all
}

// pendingFlag returns the flag whose value is the current word, or nil.
func (c *completer) pendingFlag() *pflag.Flag {
	if len(c.words) == 0 {
		return nil
	}
	last := c.words[len(c.words)-1]
	var flag *pflag.Flag
	switch {
	case strings.HasPrefix(last, "--"):
		flag = c.flags.Lookup(last[2:])
	case strings.HasPrefix(last, "-") && len(last) > 1: // in -Avn, only n takes a value: the next word
		for i := range last[1:] {
			flag = c.flags.ShorthandLookup(last[i+1 : i+2])
			if takesValue(flag) && i+2 < len(last) { // for example -nshop
				return nil
			}
		}
	}
	if !takesValue(flag) {
		return nil
	}
	return flag
}

func takesValue(flag *pflag.Flag) bool { return flag != nil && flag.NoOptDefVal == "" }

func (c *completer) flagNames(current string) (all []candidate) {
	c.flags.VisitAll(func(flag *pflag.Flag) {
		_, usage := pflag.UnquoteUsage(flag)
		all = append(all, candidate{"--" + flag.Name, usage})
	})
	return withPrefix(all, current)
}

// argument completes the argument of a subcommand.
func (c *completer) argument(current string) []candidate {
	for _, command := range commands() {
		if command.name != c.words[0] {
			continue
		}
		if choices := strings.Trim(command.args, "[]"); choices != "" && choices == strings.ToLower(choices) {
			return withPrefix(candidates(strings.Split(choices, "|")), current)
		}
		if strings.Contains(command.args, "FILE") {
			return files
		}
	}
	return nil
}

func isCommand(name string) bool {
	return slices.ContainsFunc(commands(), func(c command) bool { return c.name == name })
}

func commandNames() (all []candidate) {
	for _, c := range commands() {
		if c.description != "" {
			all = append(all, candidate{c.name, c.description})
		}
	}
	return all
}

// withPrefix returns the candidates that start with the current word.
func withPrefix(all []candidate, current string) []candidate {
	return slices.DeleteFunc(all, func(c candidate) bool { return !strings.HasPrefix(c.text, current) })
}

func candidates(texts []string) (all []candidate) {
	for _, text := range texts {
		all = append(all, candidate{text: text})
	}
	return all
}
