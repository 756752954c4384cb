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

// candidate is what a word may become, and what a shell that can says of it.
type candidate struct{ text, description string }

// files stands for the names of files, which the shell knows itself.
var files = []candidate{{text: ":files"}}

// complete is the hidden lwcat __complete WORD... CURRENT, which the scripts of lwcat completion call: it prints the words that
// CURRENT may become, a line each, with a tab and what they mean. It never tells of errors, nor takes longer than patience:
// whatever then is not known is not offered.
func complete(ctx context.Context, args []string, stdout, _ io.Writer) error {
	if len(args) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	found := make(chan []candidate, 1)
	go func() { // also what does not heed ctx, as a credential plugin, holds up nobody
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

// isWord reports whether a shell takes the text for a word and nothing else. No name that Kubernetes allows is anything
// else, but a server may say what it likes, and the shell puts it on the command line.
func (c candidate) isWord() bool {
	return !strings.ContainsFunc(c.text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-._:/=,@+%^", r)
	})
}

// completer knows what stands before the word at hand.
type completer struct {
	ctx    context.Context
	config *config
	flags  *pflag.FlagSet
	words  []string // before the current word
	names  []string // the words that are not flags or their values
}

func newCompleter(ctx context.Context, words []string) *completer {
	c := &completer{ctx: ctx, config: new(config), words: words, flags: pflag.NewFlagSet("", pflag.ContinueOnError)}
	for _, section := range c.config.sections(false) {
		c.flags.AddFlagSet(section.flags)
	}
	c.flags.Bool("help", false, "the usual flags, and examples")
	c.flags.ParseErrorsAllowlist.UnknownFlags = true
	_ = c.flags.Parse(words) // as far as it goes
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
	case strings.HasPrefix(last, "-") && len(last) > 1: // of -Avn, v takes no value, and n the next word
		for i := range last[1:] {
			flag = c.flags.ShorthandLookup(last[i+1 : i+2])
			if takesValue(flag) && i+2 < len(last) { // as -nshop
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

// argument completes what follows a subcommand.
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
